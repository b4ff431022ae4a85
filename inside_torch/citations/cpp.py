"""C++ by declaration: a scan that knows scopes, and nothing of what stands in a function's body.

Not a parser: macros are not expanded and types are not looked up. What it cannot tell apart it reports as
ambiguous, what it cannot see as missing; a wrong line it must not give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from inside_torch.citations.proof import only

TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      |(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      |(?P<string>(?:u8|[uUL])?(?:R"(?P<tag>[^(\s"]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      |(?P<number>\.?\d(?:'?[\w.])*)
      |(?P<word>[^\W\d]\w*)
      |(?P<mark>::|->|\S)""",
    re.X | re.M | re.S,
)
DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(\w*)")
CLASSES = ("struct", "class", "union", "enum")
SPECIFIERS = ("static", "constexpr", "inline", "virtual", "extern", "mutable", "volatile", "friend", "typedef", "const")
WITH_GROUP = ("decltype", "alignas", "noexcept", "requires", "explicit", "__attribute__", "__declspec", "throw")
AFTER_GROUP = ("const", "noexcept", "override", "final", "requires", "throw", "volatile", "try", "mutable")


@dataclass(frozen=True)
class Token:
    """A word or mark of C++, with its line (from 1) and whether it is a word."""

    text: str
    line: int
    word: bool = False


@dataclass(frozen=True)
class Declaration:
    """Something declared: its path from the outermost scope, its line, its parameters without spaces, and whether
    this is its definition."""

    path: tuple[str, ...]
    line: int
    parameters: str | None = None
    defined: bool = True

    @property
    def name(self) -> str:
        return "::".join(self.path)

    @property
    def shown(self) -> str:
        return self.name + (f"({self.parameters})" if self.parameters is not None else "")


def tokens(text: str) -> Iterator[Token]:
    """Everything but comments and white space; a directive is one token, and so is a string."""
    line, end = 1, 0
    for m in TOKEN.finditer(text):
        line, end = line + text.count("\n", end, m.start()), m.start()
        if m["comment"] is None:
            yield Token(m[0], line, m["word"] is not None)


def closing(head: list[Token], start: int, marks: str = "()") -> int:
    """The index after the group that opens at `start`; the length of `head` when it does not close."""
    depth = 0
    for index in range(start, len(head)):
        depth += (head[index].text == marks[0]) - (head[index].text == marks[1])
        if not depth:
            return index + 1
    return len(head)


def angled(head: list[Token], start: int) -> int:
    """As `closing`, for template arguments; groups in them may hold comparisons."""
    depth, index = 0, start
    while index < len(head):
        if head[index].text == "(":
            index = closing(head, index)
            continue
        depth += (head[index].text == "<") - (head[index].text == ">")
        index += 1
        if not depth:
            return index
    return len(head)


def top_level(head: list[Token]) -> Iterator[int]:
    """The indices of `head` outside groups and template arguments; a group counts by its opening mark."""
    index = 0
    while index < len(head):
        yield index
        if head[index].text in ("(", "["):
            index = closing(head, index, "()" if head[index].text == "(" else "[]")
        elif head[index].text == "<" and index and head[index - 1].word and head[index - 1].text != "operator":
            index = angled(head, index)
        else:
            index += 1


def is_macro_call(head: list[Token]) -> bool:
    """Whether a statement begins with MACRO(...) and goes on with a declaration."""
    if len(head) < 3 or head[1].text != "(" or not (head[0].text.isupper() or head[0].text in WITH_GROUP):
        return False
    end = closing(head, 1)
    return end < len(head) and head[end].word and head[end].text not in AFTER_GROUP


def bare(head: list[Token]) -> list[Token]:
    """A statement from its declaration on: without access, template<...>, attributes, specifiers and macros."""
    while head:
        if head[0].text in ("public", "private", "protected") and head[1:2] and head[1].text == ":":
            head = head[2:]
        elif head[0].text == "template" and head[1:2] and head[1].text == "<":
            head = head[angled(head, 1) :]
        elif head[0].text == "[" and head[1:2] and head[1].text == "[":
            head = head[closing(head, 0, "[]") :]
        elif head[0].text in SPECIFIERS or head[0].text.startswith('"'):
            head = head[1:]
        elif is_macro_call(head):
            head = head[closing(head, 1) :]
        elif head[0].text.isupper() and head[1:2] and head[1].text in (*CLASSES, "namespace", "template"):
            head = head[1:]
        else:
            break
    return head


def name_before(head: list[Token], end: int) -> tuple[tuple[str, ...], int] | None:
    """The qualified name that ends before index `end`, with its line: at::Tensor::~Tensor as three parts."""
    parts: list[str] = []
    line = head[end - 1].line if end else 0
    while end:
        index = end - 1
        if head[index].text == ">":  # X<int>::f is found as X::f
            depth = 1
            while index and depth:
                index -= 1
                depth += (head[index].text == ">") - (head[index].text == "<")
            index -= 1
        if index < 0 or not head[index].word:
            break
        tilde = "~" if index and head[index - 1].text == "~" else ""
        arguments = "".join(one.text for one in head[index + 1 : end]) if not parts else ""
        parts.insert(0, tilde + head[index].text + arguments)
        index -= bool(tilde)
        if not index or head[index - 1].text != "::":
            break
        end = index - 1
    return (tuple(parts), line) if parts else None


def class_name(head: list[Token]) -> tuple[tuple[str, ...], int] | None:
    """The name in `struct API at::Name final : Base`, after the keyword."""
    end = next((i for i in top_level(head) if head[i].text == ":"), len(head))
    while end and head[end - 1].text == "final":
        end -= 1
    return name_before(head, end)


def function(head: list[Token]) -> tuple[tuple[str, ...], int, str] | None:
    """Name, line and parameters of a function's declaration; None when it is none."""
    levels = list(top_level(head))
    stop = next((i for i in levels if head[i].text == "=" and head[i - 1].text != "operator"), len(head))
    for index in levels:
        if index > stop:
            return None
        if head[index].text == "operator":
            opening = next((i for i in range(index + 2, len(head)) if head[i].text == "("), len(head))
            outer = name_before(head, index - 1) if index and head[index - 1].text == "::" else None
            name = "operator" + "".join(one.text for one in head[index + 1 : opening])
            return (*(outer[0] if outer else ()), name), head[index].line, parameters(head, opening)
        if head[index].text != "(" or not index:
            continue
        named = name_before(head, index)
        after = closing(head, index)
        macro = head[index - 1].text.isupper() and head[after : after + 1] and is_macro_call(head[index - 1 :])
        if named and not macro and head[index - 1].text not in (*WITH_GROUP, "static_assert"):
            return *named, parameters(head, index)
    return None


def parameters(head: list[Token], opening: int) -> str:
    """A parameter list without spaces and default values."""
    inside = head[opening + 1 : closing(head, opening) - 1]
    kept, skip = [], False
    for index in top_level(inside):
        skip = inside[index].text != "," and (skip or inside[index].text == "=")
        if not skip:
            end = next((i for i in top_level(inside) if i > index), len(inside))
            kept += [one.text for one in inside[index:end]]
    return "".join(kept)


@dataclass
class Scope:
    """A pair of braces: the names it adds, whether it holds declarations, and what goes on after it."""

    names: tuple[str, ...] = ()
    kind: str = "body"
    head: tuple[Token, ...] = ()
    depth: int = 0


@dataclass
class Scanner:
    """Reads tokens; `head` is the statement so far, `depth` counts open groups in it."""

    scopes: list[Scope] = field(default_factory=list)
    head: list[Token] = field(default_factory=list)
    depth: int = 0
    branches: list[tuple] = field(default_factory=list)
    found: list[Declaration] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.scopes[-1].kind if self.scopes else "namespace"

    def add(self, names: Iterable[str], line: int, parameters: str | None = None, defined: bool = True) -> None:
        path = tuple(name for scope in self.scopes for name in scope.names) + tuple(names)
        self.found.append(Declaration(path, line, parameters, defined))

    def directive(self, token: Token) -> None:
        """Each branch of an #if begins where the #if began; after #endif the last branch goes on.

        What is for Windows alone is forgotten: the book is printed on Linux, and half of autograd is declared twice.
        """
        m = DIRECTIVE.match(token.text)
        word, name = (m[1], m[2]) if m else ("", "")
        if word == "define":
            self.found.append(Declaration((name,), token.line))
        elif word in ("if", "ifdef", "ifndef"):
            windows = word == "ifdef" and name == "_WIN32"
            self.branches.append((list(self.scopes), list(self.head), self.depth, len(self.found) if windows else None))
        elif word in ("else", "elif", "elifdef", "elifndef", "endif") and self.branches:
            scopes, head, depth, windows = self.branches.pop()
            if windows is not None:
                del self.found[windows:]
            if word != "endif":
                self.scopes, self.head, self.depth = list(scopes), list(head), depth
                self.branches.append((scopes, head, depth, None))

    def declare(self, defined: bool) -> Scope:
        """Note what the statement so far declares; returns the scope that a brace after it opens."""
        scope, head = Scope(), bare(self.head)
        if not head:
            return Scope(kind="namespace") if self.head and self.kind == "namespace" else scope  # extern "C" {
        if defined and head[0].text in (",", ":", "using"):  # the rest of a constructor with b{2} in its list
            return scope
        if not defined and any(token.text == "friend" for token in self.head):
            return scope
        if head[0].text == "namespace":
            names = tuple(token.text for token in head[1:] if token.word)
            return Scope(names, "namespace")
        if head[0].text in CLASSES and not (function(head) and not class_like(head)):
            named = class_name(head[1:])
            if named:
                self.add(named[0], named[1], defined=defined)
            return Scope(named[0] if named else (), "enum" if head[0].text == "enum" else "class")
        if head[0].text == "using":
            if len(head) > 2 and any(head[i].text == "=" for i in top_level(head)):
                self.add([head[1].text], head[1].line)
        elif declared := function(head):
            self.add(declared[0], declared[1], declared[2], defined)
        else:
            end = next((i for i in top_level(head) if head[i].text in ("=", "[", ":") and i), len(head))
            if end > 1 and (named := name_before(head, end)):
                self.add(*named)
        return scope

    def enumerator(self) -> None:
        head = bare(self.head)
        if head and head[0].word:
            self.add([head[0].text], head[0].line)
        self.head = []

    def code(self, token: Token) -> None:
        mark = token.text
        if mark == "{":
            inside = self.depth or self.kind in ("body", "enum")
            scope = Scope() if inside else self.declare(defined=True)
            scope.head, scope.depth = (tuple(self.head), self.depth) if self.depth else ((), 0)
            self.scopes.append(scope)
            self.head, self.depth = [], 0
        elif mark == "}":
            if self.kind == "enum" and not self.depth:
                self.enumerator()
            if self.scopes:
                scope = self.scopes.pop()
                self.head, self.depth = list(scope.head), scope.depth
        elif self.kind == "body":
            return
        elif mark == ";" and not self.depth:
            self.declare(defined=False)
            self.head = []
        elif mark == "," and self.kind == "enum" and not self.depth:
            self.enumerator()
        else:
            self.depth = max(0, self.depth + (mark in ("(", "[")) - (mark in (")", "]")))
            self.head.append(token)


def class_like(head: list[Token]) -> bool:
    """Whether `struct X ...` declares the struct: any group in it belongs to a macro or alignas."""
    groups = [i for i in top_level(head) if head[i].text == "("]
    return all(head[i - 1].text.isupper() or head[i - 1].text in WITH_GROUP for i in groups)


def scanned(text: str) -> Scanner:
    """A scanner that has read `text` to its end."""
    scanner = Scanner()
    for token in tokens(text):
        if token.text.lstrip().startswith("#"):
            scanner.directive(token)
        else:
            scanner.code(token)
    return scanner


def declarations(text: str) -> list[Declaration]:
    """Everything that C++ declares or defines at the level of files, namespaces, classes and enumerations."""
    return scanned(text).found


def matching(known: list[Declaration], symbol: str) -> list[Declaration]:
    """The declarations that `A::b` or `A::b(words)` names: by the end of their path, and words of their parameters.

    A class is not its constructors, and what is defined in the same file is not cited by its declaration.
    """
    name, _, words = symbol.partition("(")
    if name.endswith("operator"):  # operator()
        name, words = name + "()", words[1:].removeprefix("(")
    path = tuple(name.split("::"))
    found = [
        one
        for one in known
        if one.path[-len(path) :] == path
        and not (len(path) == 1 and one.path[-2:] == path * 2)
        and words.rstrip(")") in (one.parameters or "")
    ]
    defined = {(one.name, one.parameters) for one in found if one.defined}
    return [one for one in found if one.defined or (one.name, one.parameters) not in defined]


def find(content: str, symbol: str, where: str) -> int:
    """The line that declares `symbol`. Raises UnprovenError."""
    known = declarations(content)
    found = [(one.shown, one.line) for one in matching(known, symbol)]
    return only(found, symbol, where, (part for one in known for part in (one.name, one.path[-1])))
