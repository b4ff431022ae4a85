"""C++ by declaration: a scan that knows scopes, and nothing of what stands in a function's body.

Not a parser: macros are not expanded and types are not looked up. What it cannot tell apart it reports as
ambiguous, what it cannot see as missing; a wrong line it must not give.
"""

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from inside_torch.citations.proof import only

TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      |(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      |(?P<string>(?:u8|[uUL])?(?:R"(?P<tag>[^(\s"]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      |\.?\d(?:'?[\w.])*|\w+|::|->|\S""",
    re.X | re.M | re.S,
)
DIRECTIVE = re.compile(r"\s*#\s*(\w*)\s*(\w*)")
WINDOWS = re.compile(r"(?<=^#ifdef _WIN32\n)(?:(?![ \t]*#[ \t]*(?:if|el|end)).*\n)*", re.M)
ENDS = {"namespace": "{;", "class": "{;", "enum": ",}", "body": ""}  # kind of scope -> marks that end a statement
# The rest is for statements whose tokens stand one space apart, and whose groups, as (...), are blank inside.
ARGUMENTS = re.compile(r"(?<=[\w)] )(?<!operator )<[^<>]*>")
MACRO = r"\b\d*[A-Z_][A-Z0-9_]*"
MACRO_CALL = re.compile(
    r"\b(?:decltype|alignas|noexcept|requires|explicit|__attribute__|__declspec|throw|static_assert) \( *\)"
    rf"|{MACRO} \( *\)(?= (?!(?:const|noexcept|override|final|requires|throw|volatile|try|mutable)\b)[^\W\d])"
)
LEADING = re.compile(
    r"(?: |(?:public|private|protected) :(?!:)|\[ *\]|\"\""
    r"|(?:static|constexpr|inline|virtual|extern|mutable|volatile|friend|typedef|const|template)\b"
    rf"|{MACRO}(?= +(?:struct|class|union|enum|namespace|template)\b))*"
)
NAME = r"(?P<outer>(?:\w+ +:: )*)(?P<name>{})(?P<arguments> *)"
LAST = r"(?:~ )?\b[^\W\d]\w*\b"
WORD, CALLED = NAME.format(LAST), NAME.format(rf"(?:operator (?:[(] *[)]|[^(]+)|{LAST})")
ENUMERATOR = re.compile(WORD)
OTHER = "(?!using |[,:] )"  # what begins with , or : is the rest of a constructor with b{2} in its list
FORMS = {  # kind of scope that the statement opens -> how it declares a name
    "enum": re.compile(rf"enum\b(?:[^(=:]*? {WORD}(?:: .*)?)?$"),
    "class": re.compile(rf"(?:struct|class|union)\b(?:[^(=]*? {WORD}(?:final *)*(?:: .*)?)?$"),
    "alias": re.compile(rf"using {WORD}(?:\[ *\] )?= (?!=)"),
    "function": re.compile(rf"{OTHER}[^(=]*?{CALLED}\( *\)"),
    "variable": re.compile(rf"{OTHER}(?:[^=\[:]|::)+? {WORD}(?:(?:[=\[]|:(?!:)).*)?$"),
}


class Token(NamedTuple):
    """A word or mark of C++, with its line and the number of groups around it."""

    text: str
    line: int
    depth: int


class Declaration(NamedTuple):
    """Something declared: its full name, its line, its parameters without spaces, and whether it is defined there."""

    name: str
    line: int
    parameters: str | None = None
    defined: bool = True

    @property
    def shown(self) -> str:
        return self.name + (f"({self.parameters})" if self.parameters is not None else "")


@dataclass
class Scope:
    """A pair of braces: the name it adds, what it holds, the statement so far, and the open groups of that."""

    name: str = ""
    kind: str = "body"
    head: list[Token] = field(default_factory=list)
    depth: int = 0

    def take(self, text: str, line: int) -> None:
        """Add a token to the statement."""
        self.depth = max(0, self.depth - (text in (")", "]")))
        self.head.append(Token(text, line, self.depth))
        self.depth += text in ("(", "[")


def copied(scopes: list[Scope]) -> list[Scope]:
    return [replace(scope, head=list(scope.head)) for scope in scopes]


def blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def spelled(head: list[Token], depth: int = 0) -> tuple[str, str]:
    """A statement, and as long a text that is blank where a group, template arguments or a macro's call stand."""
    text = " ".join(token.text for token in head)
    shape, before = " ".join(token.text if token.depth <= depth else " " * len(token.text) for token in head), ""
    while shape != before:
        shape, before = ARGUMENTS.sub(blank, shape), shape
    return text, MACRO_CALL.sub(blank, shape)


def parameters(head: list[Token]) -> str:
    """The parameter list that opens a row of tokens, without spaces and default values."""
    inside = head[1 : next((n for n, token in enumerate(head) if n and not token.depth), len(head))]
    text, shape = spelled(inside, 1)
    shape = re.sub("=[^,]*", lambda default: "=" * len(default[0]), shape)
    return "".join(letter for letter, kept in zip(text, shape) if kept != "=" and letter != " ")


def named(head: list[Token], text: str, found: re.Match[str]) -> tuple[str, int, str]:
    """The name that was `found` in a statement, its line, and the parameters, if they follow it."""
    at, after = (text.count(" ", 0, place) for place in (found.start("name"), found.end("arguments")))
    last, arguments = (text[slice(*found.span(part))].replace(" ", "") for part in ("name", "arguments"))
    outer = found["outer"].replace(" ", "")  # X<int>::f is found as X::f
    return outer + last + arguments * arguments.startswith("<"), head[at].line, parameters(head[after:])


@dataclass
class Scanner:
    """Reads tokens; the file itself is the outermost scope."""

    scopes: list[Scope] = field(default_factory=lambda: [Scope(kind="namespace")])
    branches: list[list[Scope]] = field(default_factory=list)
    found: list[Declaration] = field(default_factory=list)

    def directive(self, text: str, line: int) -> None:
        """Each branch of an #if begins where the #if began; after #endif the last branch goes on."""
        word, name = DIRECTIVE.match(text).groups()
        if word == "define":
            self.found.append(Declaration(name, line))
        elif word in ("if", "ifdef", "ifndef"):
            self.branches.append(copied(self.scopes))
        elif word == "endif" and self.branches:
            self.branches.pop()
        elif word in ("else", "elif", "elifdef", "elifndef") and self.branches:
            self.scopes = copied(self.branches[-1])

    def declare(self, end: str) -> Scope:
        """Note what the statement that ends here declares; returns the scope that a brace after it opens."""
        scope = self.scopes[-1]
        text, shape = spelled(scope.head)
        start = LEADING.match(shape).end()
        if start == len(shape):
            return Scope(kind="namespace") if text and scope.kind == "namespace" else Scope()  # extern "C" {
        if shape.startswith("namespace", start):
            return Scope("::".join(re.findall(r"\w+", shape[start:])[1:]), "namespace")
        if end == ";" and "friend" in text.split():
            return Scope()
        forms = {"enumerator": ENUMERATOR} if scope.kind == "enum" else FORMS
        kind, found = next(((kind, found) for kind in forms if (found := forms[kind].match(shape, start))), ("", None))
        name = ""
        if found and found["name"]:
            name, line, listed = named(scope.head, text, found)
            full = "::".join(filter(None, [*(scope.name for scope in self.scopes), name]))
            defined = end != ";" or kind not in ("class", "enum", "function")
            self.found.append(Declaration(full, line, listed if kind == "function" else None, defined))
        return Scope(name, kind) if kind in ENDS else Scope()

    def code(self, text: str, line: int) -> None:
        scope = self.scopes[-1]
        ends = not scope.depth and text in ENDS[scope.kind]
        opened = self.declare(text) if ends else Scope()
        if ends:
            scope.head = []
        if text == "{":
            self.scopes.append(opened)
        elif text == "}":
            self.scopes = self.scopes[:-1] or self.scopes
        elif not ends and scope.kind != "body":
            scope.take(text, line)


def scanned(text: str) -> Scanner:
    """A scanner that has read `text` to its end; comments are nothing, and each string is the same. What is for
    Windows alone is nothing, too: the book is printed on Linux, and half of autograd is declared twice."""
    text = WINDOWS.sub(lambda only: "\n" * only[0].count("\n"), text)
    scanner, line, end = Scanner(), 1, 0
    for found in TOKEN.finditer(text):
        line, end = line + text.count("\n", end, found.start()), found.start()
        if found["directive"]:
            scanner.directive(found[0], line)
        elif not found["comment"]:
            scanner.code('""' if found["string"] else found[0], line)
    return scanner


def declarations(text: str) -> list[Declaration]:
    """Everything that C++ declares or defines at the level of files, namespaces, classes and enumerations."""
    return scanned(text).found


def matching(known: list[Declaration], symbol: str) -> list[Declaration]:
    """The declarations that `A::b` or `A::b(words)` names: by the end of their path, and words of their parameters. A
    class is not its constructors, and what is defined in the same file is not cited by its declaration."""
    name, _, words = symbol.partition("(")
    if name.endswith("operator"):  # operator()
        name, words = name + "()", words[1:].removeprefix("(")
    found = [
        one
        for one in known
        if f"::{one.name}".endswith(f"::{name}")
        and ("::" in name or not f"::{one.name}".endswith(f"::{name}::{name}"))
        and words.rstrip(")") in (one.parameters or "")
    ]
    defined = {(one.name, one.parameters) for one in found if one.defined}
    return [one for one in found if one.defined or (one.name, one.parameters) not in defined]


def find(content: str, symbol: str, where: str) -> int:
    """The line that declares `symbol`. Raises UnprovenError."""
    known = declarations(content)
    found = [(one.shown, one.line) for one in matching(known, symbol)]
    return only(found, symbol, where, (name for one in known for name in (one.name, one.name.rpartition("::")[2])))
