"""The package as a whole: what it shows of itself."""

import inspect
import pydoc

import plimsoll as pl


def public():
    return [name for name, value in vars(pl).items() if not name.startswith("_") and not inspect.ismodule(value)]


def test_help_is_short_and_has_every_name():
    text = pydoc.render_doc(pl, renderer=pydoc.plaintext)
    assert len(text.splitlines()) < 180  # of which the two native types are half
    words = set(text.replace(",", " ").split())
    errors = {name for name in public() if issubclass(type(getattr(pl, name)), type) and issubclass(getattr(pl, name), pl.Error)}
    assert errors - {"Error"} and set(public()) - errors <= words
    assert "Error" in words


def test_what_is_public_has_a_docstring():
    assert [name for name in public() if name != "Function" and not inspect.getdoc(getattr(pl, name))] == []  # whose instances have one
