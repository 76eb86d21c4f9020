#!/usr/bin/env python3
"""The public API of modules as sorted lines of text, and the differences between two of them.

Usage: digest.py SYMBOLS DIGESTS [--update]

SYMBOLS has the symbol graphs that swift-symbolgraph-extract writes. DIGESTS has a file
MODULE.txt for each module. A line is a declaration, a conformance or a superclass:

    CKRecord.recordID | var recordID: CKRecord.ID { get }
    CKRecord : Hashable

Exit codes: 0 no difference, 1 differences, 64 wrong usage, 66 no symbol graphs.
"""
import json
import pathlib
import sys


def declarations(graph):
    """The lines of one symbol graph."""
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in graph["symbols"]}
    for symbol in graph["symbols"]:
        text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
        # Others may subclass or override it, which the declaration does not say.
        access = "open " if symbol["accessLevel"] == "open" else ""
        line = f"{'.'.join(symbol['pathComponents'])} | {access}{' '.join(text.split())}"
        for limit in symbol.get("swiftExtension", {}).get("constraints", []):
            line += f" where {limit['lhs']} {limit['kind']} {limit['rhs']}"
        for availability in symbol.get("availability", []):
            if availability.get("isUnconditionallyUnavailable"):
                line += " (unavailable)"
            if availability.get("isUnconditionallyDeprecated"):
                line += " (deprecated)"
        yield line
    for relation in graph["relationships"]:
        if relation["kind"] not in ("conformsTo", "inheritsFrom"):
            continue
        source = names.get(relation["source"])
        target = names.get(relation["target"]) or relation.get("targetFallback", relation["target"])
        # A type of another module that only gets members here is not of this API.
        if source:
            yield f"{source} : {target.removeprefix('Swift.')}"


def read(folder):
    """The lines of every module that has a symbol graph in the folder."""
    modules = {}
    for path in sorted(folder.glob("*.symbols.json")):
        module = path.name.removesuffix(".symbols.json").split("@")[0]
        modules.setdefault(module, set()).update(declarations(json.loads(path.read_text())))
    return {module: sorted(lines) for module, lines in modules.items()}


def subject(line):
    """The name by which a changed declaration is found again."""
    return line.split(" | ")[0]


def differences(old, new):
    """What happened to each line: removed, changed or added; the first two break callers."""
    gone, come = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    successors = {}
    for line in come:
        successors.setdefault(subject(line), []).append(line)
    breaking, paired = [], set()
    for line in gone:
        rest = [other for other in successors.get(subject(line), []) if other not in paired]
        if rest and " | " in line:
            paired.add(rest[0])
            breaking.append(f"changed  {line}\n     to  {rest[0]}")
        else:
            breaking.append(f"removed  {line}")
    return breaking, [f"added    {line}" for line in come if line not in paired]


def main(arguments):
    update = "--update" in arguments
    folders = [pathlib.Path(argument) for argument in arguments if argument != "--update"]
    if len(folders) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    modules = read(folders[0])
    if not modules:
        print(f"{folders[0]} has no symbol graphs", file=sys.stderr)
        return 66
    breaks = additions = 0
    for module, lines in modules.items():
        path = folders[1] / f"{module}.txt"
        old = path.read_text().splitlines() if path.exists() else []
        breaking, added = differences(old, lines)
        for text in breaking + added:
            print(f"{module}: {text}")
        breaks, additions = breaks + len(breaking), additions + len(added)
        if update:
            path.write_text("".join(line + "\n" for line in lines))
    count = sum(map(len, modules.values()))
    print(f"{count} declarations in {', '.join(modules)}: {breaks} removed or changed, {additions} added")
    return 1 if (breaks or additions) and not update else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
