"""Citations: each kind finds its line and proves it, and whatever is not proven stops the build."""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import html
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import ROOT, Site, fence
from markdown import Extension, Markdown

from inside_torch import citations
from inside_torch.citations import binary, checks, cpp, generated, live, python
from inside_torch.citations.markdown import CitedLinks, in_html
from inside_torch.citations.proof import UnprovenError
from inside_torch.citations.wheel import shift
from inside_torch.edition import Edition
from inside_torch.fences import parse
from inside_torch.tools.citations import changes, row

NATIVE = "aten/src/ATen/native/native_functions.yaml"

# reference -> proof, path upstream, line upstream, and a part of what is shown
KNOWN = {
    "torch/nn/modules/module.py#Module._call_impl": ("python", "torch/nn/modules/module.py", 1782, "def _call_impl("),
    "torch/nn/modules/module.py#Module.__call__": (
        "python",
        "torch/nn/modules/module.py",
        1917,
        "= _wrapped_call_impl",
    ),
    "torch/storage.py#UntypedStorage": ("python", "torch/storage.py", 467, "class UntypedStorage("),
    "torchgen/packaged/autograd/gen_variable_type.py#GRADIENT_IMPLEMENTED_FOR_COMPLEX": (
        "python",
        "tools/autograd/gen_variable_type.py",
        180,
        "= {",
    ),
    "c10/core/TensorImpl.h#current_version": ("header", "c10/core/TensorImpl.h", 413, "current_version() const {"),
    "c10/core/TensorImpl.h#TensorImpl::storage_": ("header", "c10/core/TensorImpl.h", 2875, "Storage storage_;"),
    "c10/core/TensorImpl.h#TensorImpl": ("header", "c10/core/TensorImpl.h", 510, "struct C10_API TensorImpl :"),
    "c10/core/impl/SizesAndStrides.h#C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE": (
        "header",
        "c10/core/impl/SizesAndStrides.h",
        10,
        "#define C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE 5",
    ),
    "ATen/native/Resize.h#checkInBoundsForStorage": ("header", "aten/src/ATen/native/Resize.h", 94, "inline void"),
    "torch/headeronly/core/Layout.h#Layout": ("header", "torch/headeronly/core/Layout.h", 11, "enum class Layout"),
    "torch/csrc/autograd/node.h#Node::add_input_metadata(undefined_input)": (
        "header",
        "torch/csrc/autograd/node.h",
        217,
        "undefined_input u",
    ),
    "torch/csrc/autograd/generated/Functions.h#AddBackward0": (
        "generated header",
        "tools/autograd/templates/Functions.h",
        None,
        "torch/csrc/autograd/generated/Functions.h: struct TORCH_API AddBackward0 : public TraceableFunction {",
    ),
    "ATen/core/TensorBody.h#Tensor": (
        "generated header",
        "aten/src/ATen/templates/TensorBody.h",
        None,
        "ATen/core/TensorBody.h: class TORCH_API Tensor",
    ),
    "c10/core/TensorImpl.h#Note-Version-Counter-Sharing": (
        "note",
        "c10/core/TensorImpl.h",
        287,
        "// NOTE [ Version Counter Sharing ]",
    ),
    "native_functions.yaml#add.Tensor": ("yaml entry", NATIVE, 536, "- func: add.Tensor(Tensor self"),
    "derivatives.yaml#exp": ("yaml entry", "tools/autograd/derivatives.yaml", 652, "- name: exp(Tensor self)"),
    "kernel#aten::add.Tensor@ADInplaceOrView": (
        "kernel",
        "aten/src/ATen/core/VariableFallbackKernel.cpp",
        103,
        "fallthrough registered at aten/src/ATen/core/VariableFallbackKernel.cpp:103 [backend fallback]",
    ),
    "kernel#aten::add.Tensor@Meta": ("kernel", "torch/_meta_registrations.py", 54, "torch.library.Library("),
    "kernel#aten::add.Tensor@AutogradCPU": (
        "generated kernel",
        NATIVE,
        536,
        "registered at torch/csrc/autograd/generated/VariableType_2.cpp:10455 [autograd kernel]",
    ),
    "check#view-across-groups": ("check", "aten/src/ATen/native/TensorShape.cpp", 4018, "view_impl: view size is not"),
    "check#inference-version": ("check", "c10/core/TensorImpl.h", 414, "TORCH_CHECK("),
    "symbol#torch::autograd::Engine::evaluate_function": (
        "symbol",
        "torch/csrc/autograd/engine.h",
        180,
        "void evaluate_function(",
    ),
    "generated/VariableType_2.cpp#add_Tensor": (
        "generated",
        "tools/autograd/templates/VariableType.cpp",
        None,
        "VariableType_2.cpp:3359: at::Tensor add_Tensor(",
    ),
    "torch/csrc/autograd/engine.cpp": ("file in the binary", "torch/csrc/autograd/engine.cpp", None, "engine.cpp"),
    "c10/cuda/CUDACachingAllocator.cpp": ("file, unproven", "c10/cuda/CUDACachingAllocator.cpp", None, "Allocator.cpp"),
    "torch/storage.py": ("file", "torch/storage.py", None, "torch/storage.py"),
}

# reference -> what the author is told: missing, ambiguous and unprovable, for each kind
FAILING = {
    "torch/storage.py#UntypedStorag": "torch/storage.py has no UntypedStorag; did you mean UntypedStorage?",
    "torch/none.py#x": "torch/none.py is not in the installed torch",
    "torch/_jit_internal.py#get_annotation_str.x": "has no get_annotation_str.x",
    "torch/_tensor.py#annotations": "has no annotations",
    "torch/version.py#git_version": "ships with torch and is not in its repository",
    "c10/core/TensorImpl.h#current_versio": "did you mean current_version?",
    "c10/core/TensorImpl.h#storage_": "storage_ is ambiguous in c10/core/TensorImpl.h: c10::TensorImpl::storage_",
    "c10/core/None.h#x": "c10/core/None.h is not in the installed torch",
    "aten/src/ATen/native/Resize.h#x": "a header is named as it is included: src:ATen/native/Resize.h",
    "fmt/core.h": "ships with torch and is not in its repository",
    "c10/core/TensorImpl.h#Note-Version-Counter": "did you mean Note-Version-Counter-Sharing?",
    "native_functions.yaml#ad.Tensor": "native_functions.yaml has no ad.Tensor; did you mean add.Tensor?",
    "native_functions.yaml": "native_functions.yaml is cited by entry",
    "derivatives.yaml#add": "derivatives.yaml has no add",
    "kernel#aten::nope@CPU": "the dispatcher has no operator aten::nope",
    "kernel#aten::view@AutogradCP": "the table of aten::view has no AutogradCP; did you mean AutogradCPU?",
    "kernel#aten::view": "a kernel is cited as src:kernel#aten::add.Tensor@AutogradCPU",
    "check#view-across-group": "checks.py has no view-across-group; did you mean view-across-groups?",
    "symbol#Engine::evaluate_function": "export no Engine::evaluate_function; give its full name",
    "symbol#at::infer_size": "exports at::infer_size, but it is declared in ATen/ExpandUtils.h line",
    "symbol#at::native::view": "exports at::native::view, but no header outside ATen/ops declares it",
    "generated/VariableType_2.cpp#mul_Tensor": "VariableType_2.cpp has no mul_Tensor",
    "generated/VariableType_99.cpp#add_Tensor": "torch's generator makes no VariableType_99.cpp, but",
    "torch/csrc/autograd/engine.cpp#Engine::execute": "engine.cpp is not in the wheel: a line of it needs",
    "torch/csrc/autograd/generated/VariableType_2.cpp": "is generated by torch's build: cite src:generated/",
    "aten/src/ATen/RegisterCPU_0.cpp": "is generated by torch's build",
    "README.md": "nothing is cited as src:README.md",
}


@functools.cache
def run(source: str) -> SimpleNamespace:
    """What a program prints, in a plain interpreter."""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=Edition().environment)
    return SimpleNamespace(output=done.stdout, failure=done.stderr if done.returncode else "")


PROOFS = citations.Proofs(Edition(), run)
COMMIT = torch.version.git_version
ROOT_LINK = f"https://github.com/pytorch/pytorch/blob/{COMMIT}/"


def failure(reference: str, proofs: citations.Proofs = PROOFS) -> str:
    with pytest.raises(UnprovenError) as caught:
        proofs.resolve(reference)
    return str(caught.value)


@pytest.mark.parametrize("reference", KNOWN)
def test_a_known_line(reference):
    proof, path, line, text = KNOWN[reference]
    found = PROOFS.resolve(reference)
    assert (found.proof, found.path, found.line) == (proof, path, line)
    assert text in found.text
    assert found.link(COMMIT) == ROOT_LINK + path + (f"#L{line}" if line else "")


@pytest.mark.parametrize("reference", FAILING)
def test_what_is_not_proven_is_refused(reference):
    assert FAILING[reference] in failure(reference)


def test_lines_agree_with_what_the_running_torch_says():
    method = torch.nn.Module._call_impl
    line = PROOFS.resolve("torch/nn/modules/module.py#Module._call_impl").line
    assert line == inspect.getsourcelines(method)[1]
    shipped = PROOFS.wheel.text("torch/include/c10/core/TensorImpl.h").splitlines()
    assert shipped[415 - 1].strip() == PROOFS.resolve("check#inference-version").text
    for name in checks.CHECKS:  # wherever the file ships, the line that the error reports must hold a check
        found = PROOFS.resolve(f"check#{name}")
        assert "CHECK" in found.text or found.path.endswith(".cpp"), name


def test_a_check_that_proves_nothing_is_refused(monkeypatch):
    programs = {"quiet": "pass", "python": "raise ValueError('mine')", "broken": "1 +"}
    monkeypatch.setattr(live, "CHECKS", programs)
    assert failure("check#quiet") == "the program quiet in checks.py raises nothing"
    assert failure("check#python") == "the error of python in checks.py names no line of C++: mine"
    assert "names no line of C++: invalid syntax" in failure("check#broken")
    monkeypatch.setattr(live, "CHECKS", {"crash": "import os; os.abort()"})
    assert "the program that would prove it failed" in failure("check#crash")


def test_the_regenerated_code_is_held_against_the_compiled(tmp_path: Path):
    made, prove = (
        shutil.copytree(generated.regenerated(PROOFS.wheel), tmp_path / "made"),
        functools.partial(generated.prove, PROOFS.wheel),
    )
    prove(made)
    file = made / "VariableType_2.cpp"
    file.write_text("// one line more\n" + file.read_text())
    with pytest.raises(UnprovenError, match=r"VariableType_2\.cpp registers nothing in line"):
        prove(made)
    (made / "Functions.h").write_text((made / "Functions.h").read_text().replace("AddBackward0", "AddBackward1"))
    with pytest.raises(UnprovenError, match=r"Functions\.h is not the one that ships"):
        prove(made)


SHIPPED = {
    "storage": "torch/storage.py",
    "header": "torch/include/c10/core/TensorImpl.h",
    "derivatives": "torchgen/packaged/autograd/derivatives.yaml",
    "version": "torch/version.py",
    "init": "torch/__init__.py",
}


def installed(folder: Path, version: str, **changed: tuple[str, str]) -> Edition:
    """A torch of a few files, as pip installs it: `changed` says what one of SHIPPED has, and what instead."""
    packages, rows = folder / "packages", []
    changed["version"] = (torch.__version__, version)
    for name, path in SHIPPED.items():
        text = (PROOFS.edition.packages / path).read_text()
        old, new = changed.get(name, ("", ""))
        assert old in text
        (packages / path).parent.mkdir(parents=True, exist_ok=True)
        (packages / path).write_text(text.replace(old, new, 1) if old else text)
        digest = base64.urlsafe_b64encode(hashlib.sha256((packages / path).read_bytes()).digest()).decode().rstrip("=")
        rows.append((path, f"sha256={digest}", 0))
    brought = packages / f"torch-{version.partition('+')[0]}.dist-info"  # as pip calls it, without +cu130
    brought.mkdir()
    (brought / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    with open(brought / "RECORD", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    interpreter = folder / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    return Edition(str(interpreter), folder / "cache")


def test_a_build_for_cuda_is_cited(tmp_path: Path):
    edition = installed(tmp_path, "2.13.0+cu130")
    found = citations.Proofs(edition, run).citation("torch/storage.py#UntypedStorage")
    assert (edition.version, edition.packages) == ("2.13.0+cu130", tmp_path / "packages")
    assert found.link(edition.commit) == f"{ROOT_LINK}torch/storage.py#L467"


def test_a_torch_that_pip_did_not_install_proves_nothing(tmp_path: Path):
    edition = installed(tmp_path, "2.13.0+cpu")
    (tmp_path / "packages" / "torch-2.13.0.dist-info" / "RECORD").unlink()
    assert "torch was not installed by pip" in failure("torch/storage.py", citations.Proofs(edition, run))


def test_a_changed_installation_is_noticed(tmp_path: Path):
    edition = installed(tmp_path, "2.13.0+cpu")
    with open(tmp_path / "packages" / "torch" / "storage.py", "a") as file:
        file.write("\n")
    assert "changed after the installation" in failure("torch/storage.py", citations.Proofs(edition, run))


def test_another_torch_moves_and_loses_citations(tmp_path: Path):
    other = installed(
        tmp_path,
        "2.14.1+cu130",
        storage=("class UntypedStorage(", "\nclass Gone("),
        header=("data_impl(const", "\n\n data_impl(const"),
        derivatives=("- name: exp(", "- name: exp ("),
    )
    names = ["c10/core/TensorImpl.h#data_impl", "derivatives.yaml#exp", "torch/storage.py#UntypedStorage"]
    names += ["torch/storage.py#TypedStorage", "torch/storage.py"]
    same, now = ({name: row(proofs, name) for name in names} for proofs in (PROOFS, citations.Proofs(other, run)))
    assert changes(same, same) == {}
    said = list(changes(same, now).values())
    assert [one.split()[:2] for one in said] == [
        ["moved", f"src:{names[0]}"],
        ["vanished", f"src:{names[1]}"],
        ["moved", f"src:{names[3]}"],
        ["vanished", f"src:{names[2]}"],
    ]
    assert ":1706\n" in said[0] and said[0].endswith(":1708")
    assert "not proven: derivatives.yaml has no exp" in said[1]


PYTHON = """\
import typing
if typing.TYPE_CHECKING:
    early = 1
try:
    import fast
except ImportError:
    fast = None
a, (b, c) = 1, (2, 3)
twice = 1
twice = 2
class Outer:
    count: int = 0
    @property
    def size(self):
        inner = 1
    @size.setter
    def size(self, value): ...
    class Inner:
        async def run(self): ...
@typing.overload
def over(x: int): ...
def over(x): ...
"""


def test_python_is_found_by_scope():
    def line(symbol: str) -> int:
        return python.find(PYTHON, symbol, "a.py")

    names = "early fast c Outer.count Outer.size Outer.Inner Outer.Inner.run over".split()
    assert [line(name) for name in names] == [3, 7, 8, 12, 14, 18, 19, 22]
    for symbol, said in {"twice": "ambiguous in a.py: twice in line 9, twice in line 10", "inner": "has no"}.items():
        with pytest.raises(UnprovenError, match=said):
            line(symbol)


CPP = r"""#pragma once
// struct Commented {};
#define MACRO(x) \
  struct FromMacro {};
const char* text = R"x(struct InString { )x"; char brace = '{';
HIDDEN_NAMESPACE_BEGIN(c10)
namespace a::b {
struct Later;
template <typename T, bool = (sizeof(T) > 4)>
class [[nodiscard]] TORCH_API Later final : public Base<T> {
 public:
  explicit Later(int x) : x_(x), y_{x} { call(x); }
  ~Later();
  bool operator==(const Later& other) const { return x_ == other.x_; }
  void operator()(int n) noexcept;
  C10_DEPRECATED_MESSAGE("no") const std::vector<std::function<void(int)>>& many(
      int n = 3, Option o = {}) const;
  static constexpr std::array<int, 2> kTable{1, 2};
  enum class Kind : int { First, Second = MACRO(2), };
  friend bool helper(const Later&);
 private:
  int x_, y_;
  unsigned bits_ : 3;
};
template <typename T>
const std::vector<std::function<void(int)>>& Later<T>::many(int n, Option o) const {
  auto local = [&](int q) { return hidden(q); };
  if (n < 3) { return many(0, o); }
}
#ifdef _WIN32
struct Node {
#else
struct TORCH_API Node : Base {
#endif
  int id;
};
#if ONE
void either() {
#else
void either(int) {
#endif
}
void overload(int n) {}
void overload(double d);
using Alias = std::map<int, Later<int>>;
typedef unsigned char byte_t;
extern "C" {
TORCH_API void c_function(void);
}
} // namespace a::b
"""


def test_cpp_is_found_by_declaration():
    known = cpp.declarations(CPP)
    lines = {
        "MACRO": 3,
        "text": 5,
        "Later": 10,
        "a::b::Later::Later": 12,
        "Later::~Later": 13,
        "Later::operator==": 14,
        "Later::operator()": 15,
        "Later::many": 26,
        "kTable": 18,
        "Kind": 19,
        "Kind::Second": 19,
        "bits_": 23,
        "Node": 33,
        "Node::id": 35,
        "overload(int)": 43,
        "overload(double)": 44,
        "Alias": 45,
        "byte_t": 46,
        "a::b::c_function": 48,
    }
    assert {symbol: [one.line for one in cpp.matching(known, symbol)] for symbol in lines} == {
        symbol: [line] for symbol, line in lines.items()
    }
    for nothing in ("Commented", "InString", "FromMacro", "local", "hidden", "call", "helper", "if", "ter"):
        assert cpp.matching(known, nothing) == [], nothing
    assert len(cpp.matching(known, "overload")) == len(cpp.matching(known, "either")) == 2


def test_headers_are_understood_to_their_end():
    """A brace or a group left open would put what follows into a wrong scope, or hide it."""
    chapters = re.compile(r"torch/include/(c10|ATen/core|torch/csrc/autograd|torch/headeronly)/.*\.h")
    read, unbalanced = 0, []
    for path in filter(chapters.fullmatch, PROOFS.wheel.record):
        text = (PROOFS.edition.packages / path).read_text()
        inside = text.partition("\n")[2].rpartition("#else\n#error")[0] if shift(text) else text
        scanner = cpp.scanned(inside)
        read += 1
        if len(scanner.scopes) > 1 or scanner.branches or scanner.scopes[0].depth:
            unbalanced.append(path)
    assert read > 400
    assert unbalanced == []


PAGE = """\
# Page

- [`call`](src:torch/nn/modules/module.py#Module._call_impl) in a list,
  [kernel](src:kernel#aten::add.Tensor@ADInplaceOrView "a title")

| table | |
|---|---|
| [check](src:check#inference-version) | [f](src:torch/csrc/autograd/node.h#add_input_metadata(undefined_input)) |

!!! note

    [by reference][one]

[one]: src:native_functions.yaml#add_.Tensor

`[code](src:nope.py#x)`

"""


def cited(text: str) -> str:
    """A page's Markdown as HTML, with its citations."""

    class Cited(Extension):
        def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
            md.treeprocessors.register(CitedLinks(md, lambda: PROOFS), "it-citations", 15)

    return Markdown(extensions=[Cited(), "tables", "admonition"]).convert(text)


def are_permalinks(page: str, text: str) -> None:
    """Every citation of PAGE is a link on the page, with the line it leads to."""
    links = re.findall(r"<a ([^>]*it-citation[^>]*)>", page)
    assert len(links) == 5
    for _, reference in citations.references(text, parse(text)[0]):
        found = PROOFS.citation(reference)
        mine = [html.unescape(link) for link in links if f'href="{found.link(COMMIT)}"' in link]
        assert found.link(COMMIT).startswith(ROOT_LINK) and len(mine) == 1, reference
        assert f"{found.path}, line {found.line}: {found.text}" in mine[0]


def test_links_become_permalinks():
    are_permalinks(cited(PAGE), PAGE)
    assert PROOFS.problems(PAGE, []) == []


def test_links_become_permalinks_and_a_second_build_is_the_same(site: Site):
    text = PAGE + fence("[code](src:nope.py#x)", "text")
    built = site.write(index=text).build()
    assert built.returncode == 0, built.stdout
    are_permalinks(site.html(), text)
    before = site.files()
    assert site.build().returncode == 0
    assert site.files() == before


BROKEN = "# P\n\n" + "".join(f"{n}. [text](src:{reference})\n" for n, reference in enumerate(FAILING, 1))
LAST = len(FAILING) + 4
BROKEN += '\n<a href="src:raw">raw</a>\n\n[good](src:torch/storage.py)\n\n[again](src:README.md)\n\n'
LINES = {  # line -> reference, and what is wrong with it
    **{line: (reference, f"is not proven: {said}") for line, (reference, said) in enumerate(FAILING.items(), 3)},
    LAST: ("raw", "is raw HTML, not a Markdown link"),
    LAST + 4: ("README.md", "is not proven: nothing is cited as"),
}


def test_every_problem_has_its_line():
    """What a message ends in stands after what it begins with, whatever the proof puts between."""
    found = dict(PROOFS.problems(text := BROKEN + "```text\n[x](src:no.py)\n```\n`[x](src:no.py)`", parse(text)[0]))
    assert found.keys() == LINES.keys()
    for line, (reference, said) in LINES.items():
        start, _, rest = said.partition(": ")
        assert found[line].startswith(f"the citation src:{reference} {start}") and rest in found[line]
    page = cited(BROKEN)
    assert page.count('<span class="it-failure">the citation src:') == len(FAILING) + 1
    assert page.count("it-citation") == 1


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("<a href='src:x.py'>x</a>", "raw HTML"),
        ("<a href = src:x.py>", "raw HTML"),
        ("[x](\nsrc:x.py)", "broken over lines"),
    ],
)
def test_a_citation_that_is_no_link_on_its_line_is_refused(link, said):
    ((_, problem),) = PROOFS.problems(f"Text, {link} and `src:code`", [])
    assert problem == f"the citation src:x.py is {said}, not a Markdown link"


def test_every_citation_that_is_not_proven_stops_the_build_with_its_line(site: Site):
    built = site.write(index=BROKEN + "```Python\n```\n").build()
    assert built.returncode == 1
    assert f"{len(FAILING) + 3} failures: nothing was built" in built.stdout
    for line, (reference, said) in LINES.items():
        start, _, rest = said.partition(": ")
        report = f"docs/index.md:{line}: the citation src:{reference} {start}"
        assert rest in next(line for line in built.stdout.splitlines() if report in line)
    assert f"docs/index.md:{LAST + 2}: " not in built.stdout
    assert site.build(INSIDE_TORCH_SERVING="1").returncode == 0
    assert site.html().count('class="it-failure">the citation src:') == len(FAILING) + 1


def test_a_notebooks_links_are_resolved_too():
    page = '<p><a href="src:native_functions.yaml#add.Tensor"><code>add</code></a> <a href="src:no">x</a></p>'
    made = in_html(page, PROOFS)
    assert f'{NATIVE}#L536" title="{NATIVE}, line 536: - func: add.Tensor(' in made
    assert 'class="it-citation"><code>add</code></a>' in made
    assert '<span class="it-failure">the citation src:no is not proven: ' in made


def listed(*arguments: str) -> str:
    run = [sys.executable, "-m", "inside_torch.tools.citations", *arguments]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_books_citations_are_proven_and_listed():
    lines = listed().splitlines()
    assert any(
        re.match(r"docs/versions\.md:\d+ +note +c10/core/TensorImpl\.h:287  src:c10/core", line) for line in lines
    )
    texts = {
        src: (ROOT / "docs" / src).read_text() for src in ("tensor.md", "views.md", "versions.md", "tensor-types.md")
    }
    ours = {src: len(citations.references(text, parse(text)[0])) for src, text in texts.items()}
    assert {src: len([line for line in lines if line.startswith(f"docs/{src}:")]) for src in texts} == ours
    assert ours["tensor.md"] + ours["views.md"] >= 10 and ours["tensor.md"] >= 5 and ours["tensor-types.md"] >= 10


def test_the_same_torch_under_another_name_changes_nothing(tmp_path: Path):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python").chmod(0o755)
    assert re.search(r": 0 of \d+ citations differ\n$", listed(str(tmp_path / "python")))


def test_the_build_does_not_import_torch():
    shipped = [one for one in KNOWN if re.match(r"torch/|c10/|ATen/|native|deriv|symbol", one)]
    source = "import sys\nfrom inside_torch.citations import Proofs, markdown\n"
    source += "from inside_torch.edition import Edition\nproofs = Proofs(Edition(), None)\n"
    source += f"for one in {shipped!r}:\n    proofs.resolve(one)\nassert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT).returncode == 0


def test_libraries_are_read_once(monkeypatch):
    references = ["torch/csrc/autograd/engine.cpp", "symbol#torch::autograd::Engine::evaluate_function"]
    first = [PROOFS.resolve(one) for one in references]
    monkeypatch.setattr(binary, "opened", None)
    assert [PROOFS.resolve(one) for one in references] == first


def test_a_proof_is_remembered_and_a_failure_is_not(tmp_path: Path):
    ran = []

    def counted(source: str) -> SimpleNamespace:
        ran.append(source)
        return run(source)

    for _ in range(2):
        proofs = citations.Proofs(Edition(cache=tmp_path), counted)
        assert proofs.citation("kernel#aten::add.Tensor@Meta").line == 54
        assert "no AutogradCP" in proofs.failure("kernel#aten::view@AutogradCP")
    add, view = proofs.programs("kernel#aten::add.Tensor@Meta"), proofs.programs("kernel#aten::view@x")
    assert ran == [*add, *view, *view]
    assert proofs.programs("torch/storage.py") == []
