"""Targets of which this machine runs the code."""

import json

import plimsoll as pl


def runs(name):
    try:
        pl.Engine(target=name, threads=1).loads("func.func @f(%x: i32) -> i32 { return %x : i32 }").f(1)
    except pl.Error:
        return False
    return True


HOSTS = [name for name in ("host", "x86-64-v2", "x86-64-v3", "x86-64-v4") if runs(name)]


def with_small_caches(name):
    """One whose last cache has no room for any result."""
    described = json.loads(pl.Target(name).describe().text)
    described["devices"][0]["caches"] = [{"level": 1, "bytes": 64, "line_bytes": 64, "shared_by": 1}]
    return pl.Target.from_json(json.dumps(described))
