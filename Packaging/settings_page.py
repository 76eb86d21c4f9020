#!/usr/bin/env python3
"""The manual page of the settings file, from the list that the server's program prints.

Usage: tidemark settings --all --json | settings_page.py VERSION DATE
"""
import json
import sys

from man_pages import escaped

INTRODUCTION = """\
.SH NAME
tidemark.json \\- settings of the record store Tidemark
.SH SYNOPSIS
.B /etc/tidemark/tidemark.json
.SH DESCRIPTION
A JSON object of settings by name, which
.B tidemark serve \\-\\-config
reads at its start. A number is a JSON number, and any other value a text. Flags and variables of the
environment take precedence: the setting
.I log_level
is the variable
.BR TIDEMARK_LOG_LEVEL .
The command
.B tidemark settings \\-\\-config
.I file
prints what a file sets. SIGHUP has a running server read it again; some settings wait for a restart.
.SH EXAMPLE
.nf
.RS 4
{
    "listen": "0.0.0.0:7430",
    "metrics_file": "/run/tidemark/tidemark.prom"
}
.RE
.fi
.SH SETTINGS"""


def described(setting):
    """Roff of one setting: its name, its meaning, its default, its bounds, and what a change needs."""
    meaning = setting["meaning"]
    facts = [meaning[:1].upper() + meaning[1:]]
    if setting["default"]:
        facts.append(f"default: {setting['default']}")
    if "min" in setting:
        facts.append(f"from {setting['min']} to {setting['max']}")
    facts.append("a change needs SIGHUP" if setting["change"] == "sighup" else "a change needs a restart")
    return [".TP", f"\\fB{escaped(setting['name'])}\\fR", escaped("; ".join(facts) + ".")]


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    version, date = arguments
    lines = [f'.TH "TIDEMARK.JSON" "5" "{date}" "Tidemark {version}" "Tidemark"', INTRODUCTION]
    for setting in json.load(sys.stdin):
        lines += described(setting)
    lines += [".SH SEE ALSO", "\\fBtidemark\\-serve\\fR(8), \\fBtidemark\\-settings\\fR(8)"]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
