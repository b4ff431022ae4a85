"""Citations: each kind finds its line and proves it, and whatever is not proven stops the build."""

from __future__ import annotations

import html
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT, Site, fence

from inside_torch import citations, edition, render
from inside_torch.citations import __main__ as command
from inside_torch.citations import binary, checks, cpp, generated, markdown, python, wheel
from inside_torch.citations.proof import UnprovenError

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


@pytest.fixture(scope="module", autouse=True)
def servers():
    """End the servers that the proofs of this file started."""
    yield
    render.blocks().close()
    render.blocks.cache_clear()


def failure(reference: str) -> str:
    with pytest.raises(UnprovenError) as caught:
        citations.resolve(reference)
    return str(caught.value)


@pytest.mark.parametrize("reference", KNOWN)
def test_a_known_line(reference):
    proof, path, line, text = KNOWN[reference]
    found = citations.resolve(reference)
    assert (found.proof, found.path, found.line) == (proof, path, line)
    assert text in found.text
    place = f"{torch.version.git_version}/{path}" + (f"#L{line}" if line else "")
    assert found.link == f"https://github.com/pytorch/pytorch/blob/{place}"


@pytest.mark.parametrize("reference", FAILING)
def test_what_is_not_proven_is_refused(reference):
    assert FAILING[reference] in failure(reference)


def test_lines_agree_with_what_the_running_torch_says():
    method = torch.nn.Module._call_impl
    line = citations.resolve("torch/nn/modules/module.py#Module._call_impl").line
    assert line == inspect.getsourcelines(method)[1]
    shipped = wheel.text("torch/include/c10/core/TensorImpl.h").splitlines()
    assert shipped[415 - 1].strip() == citations.resolve("check#inference-version").text
    for name in checks.CHECKS:  # wherever the file ships, the line that the error reports must hold a check
        found = citations.resolve(f"check#{name}")
        assert "CHECK" in found.text or found.path.endswith(".cpp"), name


def test_a_check_that_proves_nothing_is_refused(monkeypatch):
    programs = {"quiet": "pass", "python": "raise ValueError('mine')", "broken": "1 +"}
    monkeypatch.setattr(citations.live, "CHECKS", programs)
    assert failure("check#quiet") == "the program quiet in checks.py raises nothing"
    assert failure("check#python") == "the error of python in checks.py names no line of C++: mine"
    assert "names no line of C++: invalid syntax" in failure("check#broken")
    monkeypatch.setattr(citations.live, "CHECKS", {"crash": "import os; os.abort()"})
    assert "the program that would prove it failed" in failure("check#crash")


def test_a_changed_installation_is_noticed(monkeypatch):
    monkeypatch.setattr(wheel, "record", lambda: {"torch/storage.py": "sha256=0"})
    with pytest.raises(UnprovenError, match="changed after the installation"):
        wheel.text.__wrapped__("torch/storage.py")


def test_the_regenerated_code_is_held_against_the_compiled(tmp_path: Path):
    made = shutil.copytree(generated.regenerated(), tmp_path / "made")
    generated.prove(made)
    file = made / "VariableType_2.cpp"
    file.write_text("// one line more\n" + file.read_text())
    with pytest.raises(UnprovenError, match=r"VariableType_2\.cpp registers nothing in line"):
        generated.prove(made)
    (made / "Functions.h").write_text((made / "Functions.h").read_text().replace("AddBackward0", "AddBackward1"))
    with pytest.raises(UnprovenError, match=r"Functions\.h is not the one that ships"):
        generated.prove(made)


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
    for path in filter(chapters.fullmatch, wheel.record()):
        text = (wheel.folder() / path).read_text()
        inside = text.partition("\n")[2].rpartition("#else\n#error")[0] if wheel.shift(text) else text
        scanner = cpp.scanned(inside)
        read += 1
        if scanner.scopes or scanner.branches or scanner.depth:
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


def test_links_become_permalinks_and_a_second_build_is_the_same(site: Site):
    text = PAGE + fence("[code](src:nope.py#x)", "text")
    built = site.write(index=text).build()
    assert built.returncode == 0, built.stdout
    links = re.findall(r"<a ([^>]*it-citation[^>]*)>", site.html())
    assert len(links) == 5
    root = f"https://github.com/pytorch/pytorch/blob/{torch.version.git_version}"
    for _, reference in citations.references(text):
        found = citations.resolve(reference)
        mine = [html.unescape(link) for link in links if f'href="{found.link}"' in link]
        assert found.link.startswith(root) and len(mine) == 1, reference
        assert f"{found.path}, line {found.line}: {found.text}" in mine[0]
    before = site.files()
    assert site.build().returncode == 0
    assert site.files() == before


def test_every_citation_that_is_not_proven_stops_the_build_with_its_line(site: Site):
    lines = [f"{number}. [text](src:{reference})" for number, reference in enumerate(FAILING, 1)]
    text = "# P\n\n" + "\n".join(lines) + '\n\n<a href="src:raw">raw</a>\n\n[good](src:torch/storage.py)\n'
    text += "\n[again](src:README.md)\n\n```Python\n```\n"
    built = site.write(index=text).build()
    assert built.returncode == 1
    assert f"{len(FAILING) + 3} failures: nothing was built" in built.stdout
    for number, (reference, said) in enumerate(FAILING.items(), 3):
        report = f"docs/index.md:{number}: the citation src:{reference} is not proven: "
        assert said in next(line for line in built.stdout.splitlines() if report in line)
    last = len(FAILING) + 4
    assert f"docs/index.md:{last}: " not in built.stdout
    assert "the citation src:raw is raw HTML, not a Markdown link" in built.stdout
    assert f"docs/index.md:{last + 4}: the citation src:README.md" in built.stdout
    shown = site.build(INSIDE_TORCH_DRIFT="1")
    assert shown.returncode == 0
    assert site.html().count('class="it-failure" data-citation=') == len(FAILING) + 1


def test_a_notebooks_links_are_resolved_too():
    page = '<p><a href="src:native_functions.yaml#add.Tensor"><code>add</code></a> <a href="src:no">x</a></p>'
    made = markdown.in_html(page)
    assert f'{NATIVE}#L536" title="{NATIVE}, line 536: - func: add.Tensor(' in made
    assert 'class="it-citation"><code>add</code></a>' in made
    assert '<span class="it-failure" data-citation="no">the citation src:no is not proven: ' in made


def test_the_books_citations_are_proven_and_listed():
    listed = subprocess.run([sys.executable, "-m", "inside_torch.citations"], cwd=ROOT, capture_output=True, text=True)
    assert listed.returncode == 0, listed.stdout
    assert len(listed.stdout.splitlines()) == len(command.cited())
    assert re.search(r"^docs/tensor\.md:\d+ +note +c10/core/TensorImpl\.h:287  src:c10/core", listed.stdout, re.M)
    assert len(citations.references((ROOT / "docs" / "tensor.md").read_text())) >= 10


def test_another_torch_is_compared(tmp_path: Path):
    kept = tmp_path / "kept.json"
    run = [sys.executable, "-m", "inside_torch.citations"]
    assert subprocess.run([*run, "--save", kept], cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
    same = subprocess.run([*run, sys.executable], cwd=ROOT, capture_output=True, text=True)
    assert re.search(r": 0 of \d+ citations differ\n$", same.stdout)
    before = json.loads(kept.read_text())
    before["citations"]["torch/storage.py#UntypedStorage"]["line"] = 400
    kept.write_text(json.dumps(before))
    moved = subprocess.run([*run, "--against", kept], cwd=ROOT, capture_output=True, text=True).stdout
    assert ": 1 of " in moved
    assert re.search(r"moved +src:torch/storage\.py#UntypedStorage\n.*storage\.py:400\n.*storage\.py:467\n", moved)


def test_a_doctored_torch_moves_and_loses_citations(monkeypatch):
    references = ["torch/storage.py#UntypedStorage", "c10/core/TensorImpl.h#data_impl", "derivatives.yaml#exp"]
    before = {reference: dict(vars(citations.resolve(reference))) for reference in references}
    original = wheel.text

    def doctored(path: str) -> str:
        text = original(path).replace("- name: exp(", "- name: exp (").replace("class UntypedStorage", "\nclass Gone")
        return text.replace("data_impl(const", "\n\n data_impl(const", 1)

    monkeypatch.setattr(wheel, "text", doctored)
    monkeypatch.setattr(citations.entries, "text", doctored)
    monkeypatch.setattr(citations, "citation", citations.resolve)
    said = command.changes(before, {reference: command.row(reference) for reference in references})
    assert [one.split()[0] for one in said] == ["moved", "vanished", "vanished"]
    assert ":1708" in said[0]
    assert "not proven: derivatives.yaml has no exp" in said[1]


def test_the_build_does_not_import_torch():
    shipped = [one for one in KNOWN if re.match(r"torch/|c10/|ATen/|native|deriv|symbol", one)]
    source = "import sys\nfrom inside_torch import citations\nfrom inside_torch.citations import markdown\n"
    source += f"for one in {shipped!r}:\n    citations.resolve(one)\nassert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT).returncode == 0


def test_libraries_are_read_once_an_edition(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(edition, "CACHE", tmp_path)
    calls = []

    def read(library: str) -> list[str]:
        calls.append(library)
        return [library]

    assert [binary.table.__wrapped__(read, "libc10.so") for _ in range(2)] == [["libc10.so"]] * 2
    assert calls == ["libc10.so"]
