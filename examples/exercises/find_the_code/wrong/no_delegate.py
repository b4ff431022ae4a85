# says: have read only the entry itself
"""Ignores structured_delegate."""

HOW = {
    "CPU": "own",
    "CompositeExplicitAutograd": "explicit",
    "CompositeExplicitAutogradNonFunctional": "explicit",
    "CompositeImplicitAutograd": "composite",
}


def find_the_code(entry, delegate):
    kernels = {}
    for keys, kernel in entry.get("dispatch", {}).items():
        kernels |= dict.fromkeys(keys.split(", "), kernel)
    if "dispatch" not in entry:
        name, _, arguments = entry["func"].partition("(")
        out = "!" in arguments.partition(" -> ")[0].partition("*, ")[2]
        kernel = name.partition(".")[0] + "_out" * out
        kernels["CompositeImplicitAutograd"] = kernel
    for key, how in HOW.items():
        if key in kernels:
            how = "structured" if entry.get("structured") else how
            return [how, f"Register{key}", kernels[key]]
    return ["none", "", ""]
