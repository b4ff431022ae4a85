# says: given an out variant the name of the plain
"""Names out variants like the function."""

HOW = {
    "CPU": "own",
    "CompositeExplicitAutograd": "explicit",
    "CompositeExplicitAutogradNonFunctional": "explicit",
    "CompositeImplicitAutograd": "composite",
}


def find_the_code(entry, delegate):
    if delegate:
        return find_the_code(delegate, None)
    kernels = {}
    for keys, kernel in entry.get("dispatch", {}).items():
        kernels |= dict.fromkeys(keys.split(", "), kernel)
    if "dispatch" not in entry:
        name = entry["func"].partition("(")[0]
        kernels["CompositeImplicitAutograd"] = name.partition(".")[0]
    for key, how in HOW.items():
        if key in kernels:
            how = "structured" if entry.get("structured") else how
            return [how, f"Register{key}", kernels[key]]
    return ["none", "", ""]
