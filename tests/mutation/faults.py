"""Small faults in a C++ source, found in its syntax tree, each as a branch that is taken when its number is asked for.

A fault is a comparison that is off by one or turned around, a sum that became a difference, a condition that is not asked or never
holds, a call or a check for errors that is left out.
"""
import dataclasses
import re
import shlex

others = {"<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
          "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["+"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
          "+=": ["-="], "-=": ["+="], "*=": ["+="]}
chosen = {"std::min": "std::max", "std::max": "std::min"}
literals = {"true": "false", "false": "true"}
check = "PLIM_RETURN_IF_ERROR"


@dataclasses.dataclass(frozen=True)
class Fault:
    path: str
    line: int
    begin: int  # bytes
    end: int
    before: str
    after: str
    code: str  # in place of the bytes; FAULT says whether it is there

    def is_at(self, path, line):
        return path == self.path and self.line <= line <= self.line + self.before.count("\n")

    def __str__(self):
        def short(text):
            text = re.sub(r"\s+", " ", text)
            return text if len(text) < 80 else text[:50] + " ... " + text[-25:]
        return f"{self.path}:{self.line}: {short(self.before)}  =>  {short(self.after) or '(left out)'}"


def arguments_of(command):
    """What a compiler is told apart from what it is to write."""
    words = shlex.split(command)[1:]
    kept, skip = [], False
    for word in words:
        if skip or word == "-c":
            skip = False
        elif word == "-o":
            skip = True
        else:
            kept.append(word)
    return kept[:-1]  # the source itself


def faults_of(path, source, arguments, folder):
    """All faults of the file `source`, which the reports call `path`. Needs the Python bindings of Clang."""
    from clang.cindex import CursorKind, Index
    unit = Index.create().parse(str(source), args=[*arguments, f"-working-directory={folder}"])
    assert not any(each.severity >= 3 for each in unit.diagnostics), [str(each) for each in unit.diagnostics][:3]
    text = source.read_bytes()
    found = []

    def at(begin, end):
        return text[begin:end].decode()

    def range_of(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def add(cursor, after, code, before=None, end=None):
        begin, until = range_of(cursor)
        found.append(Fault(path, cursor.extent.start.line, begin, end or until, before or at(begin, until), after, code))

    def visit(cursor, parent):
        children = list(cursor.get_children())
        kind, (begin, end) = cursor.kind, range_of(cursor)
        here = at(begin, end)
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            (first, left), (right, last) = map(range_of, children)
            operator = at(left, right).strip()
            if (first, last) == (begin, end):
                for other in others.get(operator, []):
                    after = f"{at(first, left)} {other} {at(right, last)}"
                    add(cursor, after, f"(FAULT ? ({after}) : ({here}))")
        elif kind == CursorKind.UNARY_OPERATOR and here.startswith(("++", "--")):
            after = {"++": "--", "--": "++"}[here[:2]] + here[2:]
            add(cursor, after, f"(FAULT ? ({after}) : ({here}))")
        elif kind == CursorKind.UNARY_OPERATOR and here.startswith("!") and not here.startswith("!="):  # which C++20 makes of ==
            add(cursor, here[1:], f"(FAULT ? static_cast<bool>({here[1:]}) : ({here}))")
        elif kind == CursorKind.CXX_BOOL_LITERAL_EXPR and here in literals:
            add(cursor, literals[here], f"(FAULT ? {literals[here]} : {here})")
        elif kind == CursorKind.CONTINUE_STMT:
            add(cursor, "break", "{ if (FAULT) break; continue; }", end=end + 1)
        elif kind == CursorKind.IF_STMT and here.startswith("if (") and children[0].kind.is_expression():
            condition = children[0]
            shown = at(*range_of(condition))
            add(condition, "false", f"(FAULT ? false : static_cast<bool>({shown}))", before=f"if ({shown})")
        elif kind == CursorKind.CALL_EXPR:
            name = here.split("(")[0].split("<")[0]
            if name in chosen:
                after = chosen[name] + here[len(name):]
                add(cursor, after, f"(FAULT ? {after} : {here})")
            elif parent.kind == CursorKind.COMPOUND_STMT and text[end:end + 1] == b";" and not here.startswith(("PLIM_", "assert")):
                add(cursor, "", f"if (!FAULT) {here}")
        for child in children:
            if child.extent.start.file and child.extent.start.file.name == str(source):
                visit(child, cursor)

    for cursor in unit.cursor.get_children():
        if cursor.location.file and cursor.location.file.name == str(source):
            visit(cursor, unit.cursor)

    for each in re.finditer(rf"^ +({check}\((.*)\));$".encode(), text, re.M):
        inner = each.group(2).decode()
        line = text[:each.start(1)].count(b"\n") + 1
        found.append(Fault(path, line, each.start(1), each.end(), each.group(1).decode(), f"(void)({inner})",
                           f"{{ if (FAULT) (void)({inner}); else {check}({inner}); }}"))
    # What comes from a macro has places that are not its own.
    return sorted((each for each in set(found) if whole(each.before) and "//" not in each.code and "#" not in each.code),
                  key=lambda each: (each.begin, each.end, each.after))


def whole(code):
    """Whether brackets are closed."""
    return all(code.count(left) == code.count(right) for left, right in ("()", "[]", "{}"))


def write(text, numbered):
    """The bytes of a source with faults (number, Fault) that do not overlap. Lines keep their numbers."""
    for number, fault in sorted(numbered, key=lambda each: -each[1].begin):
        old = text[fault.begin:fault.end]
        new = re.sub(r"\s*\n\s*", " ", fault.code).replace("FAULT", f"plim_faults::is({number})").encode()
        text = text[:fault.begin] + new + b"\n" * old.count(b"\n") + text[fault.end:]
    return b'#include "tests/mutation/Fault.h"\n#line 1\n' + text


def apart(drawn):
    """Those of them, in their order, that overlap with none before."""
    kept = []
    for each in drawn:
        if all(each.path != other.path or each.end <= other.begin or other.end <= each.begin for other in kept):
            kept.append(each)
    return kept
