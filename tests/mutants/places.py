# SPDX-License-Identifier: Apache-2.0
"""Where a C file can be changed by one small mistake, and how.

A change is (start, end, text): bytes start..end of the file become text. The file is formatted by clang-format, so spaces tell
an operator between two values ("a * b") from a declaration ("char *b") or an address ("&b")."""
import collections
import re

Change = collections.namedtuple("Change", "start end text kind")

TOKEN = re.compile(r"""
      (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*)
    | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?[fFuUlL]*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<operator><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|->|[-+*/%<>=!&|^~?:;,.(){}\[\]])
""", re.X | re.S | re.M)

# between two values, a space on both sides
SPACED = {"<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!="], "!=": ["=="],
          "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"],
          "&": ["|"], "|": ["&"], "^": ["|"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="]}
CALL = re.compile(r"^[ \t]+(?!(?:return|if|for|while|switch|else|do|case|sizeof|goto)\b)[A-Za-z_][\w.>-]*\([^\n]*\);[ \t]*$", re.M)

# Calls that nobody misses: in the C library these only mark what lies in memory that is given back next.
EMPTY = re.compile(r"\s*pthread_(?:mutex|cond|attr|mutexattr|condattr)_destroy\(")


def tokens(text):
    return [m for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def closing(found, opening):
    """The index of the bracket that closes the one at index `opening`; None where there is none."""
    depth = 0
    for i in range(opening, len(found)):
        t = found[i].group()
        depth += t == "("
        depth -= t == ")"
        if depth == 0:
            return i
    return None


def number_changes(t):
    body = t.rstrip("uUlLfF") if not t.lower().startswith("0x") else t.rstrip("uUlL")
    tail = t[len(body):]
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", body):
        return [hex(int(body, 16) ^ 1) + tail]
    if re.fullmatch(r"\d+", body) and not (len(body) > 1 and body[0] == "0"):
        n = int(body)
        return [f"{n + 1}{tail}"] + ([f"{n - 1}{tail}"] if n > 0 else [])
    if re.fullmatch(r"\d*\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+", body):
        return [f"({t} * 2)", f"(-({t}))"] if float(body) else [f"1.0{tail}"]
    return []


def changes(text):
    """Every change of a file's text, in the order of places; a list of lists: what can be done at one place."""
    found = tokens(text)
    places = []
    skipped = [(m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup == "skip"]

    def add(start, end, texts, kind):
        if texts:
            places.append([Change(start, end, t, kind) for t in texts])

    depth = 0
    for i, m in enumerate(found):
        t, start, end = m.group(), m.start(), m.end()
        depth += (t == "{") - (t == "}")
        if depth == 0:  # declarations, prototypes: nothing that runs
            continue
        spaced = text[start - 1 : start] in (" ", "\n") and text[end : end + 1] in (" ", "\n")
        if m.lastgroup == "number":
            if i and found[i - 1].group() == "case":
                continue
            add(start, end, number_changes(t), "constant")
        elif t in SPACED and spaced:
            add(start, end, SPACED[t], "operator")
        elif t in ("++", "--"):
            add(start, end, ["--" if t == "++" else "++"], "operator")
        elif t == "!" and found[i - 1].group() != ")":  # "(void)!call" says that its answer is not wanted
            add(start, end, [""], "condition")
        elif t in ("true", "false"):
            add(start, end, ["false" if t == "true" else "true"], "constant")
        elif t in ("break", "continue") and i + 1 < len(found) and found[i + 1].group() == ";":
            add(start, end, ["continue" if t == "break" else "break"] if t == "continue" else [""], "condition")
        elif t in ("if", "while") and i + 1 < len(found) and found[i + 1].group() == "(":
            last = closing(found, i + 1)
            if last:
                a, b = found[i + 1].end(), found[last].start()
                add(a, b, [f"!({text[a:b]})"] + (["0"] if t == "if" else []), "condition")
    for m in CALL.finditer(text):
        if not EMPTY.match(m.group()) and not any(a < m.end() and m.start() < b and text[a:b].startswith(("/*", "//", "#")) for a, b in skipped):
            indent = len(m.group()) - len(m.group().lstrip())
            add(m.start() + indent, m.end(), [";"], "call")
    places.sort(key=lambda p: (p[0].start, p[0].end))
    return places


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def applied(text, change):
    return text[: change.start] + change.text + text[change.end :]
