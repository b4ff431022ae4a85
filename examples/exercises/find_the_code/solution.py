"""Look for the keys that can serve the CPU, in the table's order."""

HOW = {
    "CPU": "own",
    "CompositeExplicitAutograd": "explicit",
    "CompositeExplicitAutogradNonFunctional": "explicit",
    "CompositeImplicitAutograd": "composite",
}


def default_name(func):
    """The name of the kernel where the entry has no `dispatch`."""
    arguments = func.rpartition(" -> ")[0]
    behind_star = arguments.partition("*, ")[2]
    name = func.partition("(")[0].partition(".")[0]
    return f"{name}_out" if "!" in behind_star else name


def find_the_code(entry, delegate):
    if delegate:
        return find_the_code(delegate, None)
    kernels = {}
    for keys, kernel in entry.get("dispatch", {}).items():
        for key in keys.split(", "):
            kernels[key] = kernel
    if "dispatch" not in entry:
        kernels["CompositeImplicitAutograd"] = default_name(entry["func"])
    for key, how in HOW.items():
        if key in kernels:
            if key == "CPU" and entry.get("structured"):
                how = "structured"
            return [how, f"Register{key}", kernels[key]]
    return ["none", "", ""]
