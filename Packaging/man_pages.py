#!/usr/bin/env python3
"""Manual pages of a program and its subcommands, from the description that its parser prints.

Usage: PROGRAM --experimental-dump-help | man_pages.py SECTION VERSION DATE FOLDER

Writes FOLDER/program-subcommand.SECTION for each command that is shown, and prints the paths.
"""
import json
import pathlib
import sys


def escaped(text):
    """Text that roff shows as it is, in ASCII."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def paragraphs(text):
    """Roff for a text: indented lines are examples, which keep their breaks."""
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        # An example may follow its introduction without an empty line, and the reverse.
        while lines:
            is_example = lines[0].startswith("  ")
            count = next((i for i, line in enumerate(lines) if line.startswith("  ") != is_example), len(lines))
            run, lines = lines[:count], lines[count:]
            yield ".PP"
            if is_example:
                yield from [".nf", ".RS 4", *(escaped(line[2:]) for line in run), ".RE", ".fi"]
            else:
                yield escaped(" ".join(line.strip() for line in run))


def spelling(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def label(argument):
    """The bold names of an argument and its value in italics, as roff."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        return value
    names = ", ".join(f"\\fB{escaped(spelling(name))}\\fR" for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {value}"


def synopsis(command, words, arguments):
    parts = [f"\\fB{escaped(' '.join(words))}\\fR"]
    options = [a for a in arguments if a["kind"] != "positional"]
    required = [a for a in options if not a["isOptional"]]
    if len(options) > len(required):
        parts.append("[\\fIoptions\\fR]")
    for argument in required + [a for a in arguments if a["kind"] == "positional"]:
        text = label(argument)
        if argument["kind"] != "positional":
            text = f"\\fB{escaped(spelling(argument['preferredName']))}\\fR \\fI{escaped(argument['valueName'])}\\fR"
        if argument["isRepeating"]:
            text += " ..."
        parts.append(f"[{text}]" if argument["isOptional"] else text)
    if command["subcommands"]:
        parts.append("\\fIcommand\\fR")
    return " ".join(parts)


def shown(items):
    return [item for item in items if item.get("shouldDisplay", True)]


def described(argument):
    """Roff of one argument and what its help says."""
    yield ".TP"
    yield label(argument)
    text = argument.get("abstract", "")
    default = argument.get("defaultValue")
    if default and "(default:" not in text:
        text += f" (default: {default})"
    values = argument.get("allValues", [])
    if values and not any(value in text for value in values):
        text += f" One of {', '.join(values)}."
    yield escaped(" ".join(text.split())) or "\\&"
    if argument.get("discussion"):
        yield ".IP"
        yield escaped(" ".join(argument["discussion"].split()))


def page(command, words, section, version, date):
    """The lines of one page."""
    name = "-".join(words)
    arguments = shown(command.get("arguments", []))
    yield f'.TH "{escaped(name.upper())}" "{section}" "{date}" "Tidemark {version}" "Tidemark"'
    yield ".SH NAME"
    abstract = command.get("abstract", "").rstrip(".")
    yield f"{escaped(name)} \\- {escaped(abstract[:1].lower() + abstract[1:])}"
    yield ".SH SYNOPSIS"
    yield synopsis(command, words, arguments)
    if command.get("discussion"):
        yield ".SH DESCRIPTION"
        yield from list(paragraphs(command["discussion"]))[1:]
    for title, kinds in (("ARGUMENTS", ("positional",)), ("OPTIONS", ("option", "flag"))):
        chosen = [argument for argument in arguments if argument["kind"] in kinds]
        if chosen:
            yield f".SH {title}"
        for argument in chosen:
            yield from described(argument)
    if command["subcommands"]:
        yield ".SH COMMANDS"
    for other in command["subcommands"]:
        yield ".TP"
        yield f"\\fB{escaped('-'.join(words + [other['commandName']]))}\\fR({section})"
        yield escaped(other.get("abstract", ""))
    if len(words) > 1:
        yield ".SH SEE ALSO"
        yield f"\\fB{escaped('-'.join(words[:-1]))}\\fR({section})"


def write(command, words, section, version, date, folder):
    """Writes the page of a command, then those of its subcommands."""
    # Every parser has the command help, whose text is its parent's.
    command["subcommands"] = [c for c in shown(command.get("subcommands", [])) if c["commandName"] != "help"]
    words = words + [command["commandName"]]
    path = folder / f"{'-'.join(words)}.{section}"
    path.write_text("\n".join(page(command, words, section, version, date)) + "\n")
    print(path)
    for other in command["subcommands"]:
        write(other, words, section, version, date, folder)


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 64
    section, version, date, folder = arguments
    write(json.load(sys.stdin)["command"], [], section, version, date, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
