# says: the file imports `torch`
"""Asks the dispatcher."""

import re

import torch


def find_the_code(entry, delegate):
    table = torch._C._dispatch_dump_table("aten::" + entry["func"].partition("(")[0])
    record = re.search(r"^CPU: registered at .*?(Register\w+)_", table, re.M)
    return ["own", record[1], ""] if record else ["none", "", ""]
