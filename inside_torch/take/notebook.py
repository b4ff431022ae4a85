"""A page as a notebook, which does not give its answers away, and the notebook as a script."""

import copy
import re

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from inside_torch.edition import Edition
from inside_torch.fences import fenced
from inside_torch.quiz import Quiz
from inside_torch.run.needs import needs
from inside_torch.take.parts import Part
from inside_torch.take.prose import folded

PICTURE = re.compile(r"^!\[.*\]\(data:image/svg\+xml;base64,[\w+/=]+\)\n+", re.M)
RUNNER = '''\
import os, subprocess, sys, tempfile


def run_alone(program):
    """Run a whole program in an interpreter of its own, as the book does."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "block.py")
        with open(path, "w") as file:
            file.write(program[1:])
        done = subprocess.run([sys.executable, path], text=True, capture_output=True)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
'''


def alone(program: str) -> str:
    """A block as a cell that runs it in a process of its own."""
    quote = "'''" if "'''" not in program else '"""'
    return f"run_alone(r{quote}\n{program}\n{quote})"


def asked(quiz: Quiz) -> str:
    """The question, to stand above a quiz's program."""
    return f"**Predict, then run.** {quiz.question}"


def mistakes(quiz: Quiz, output: str = "") -> str:
    """Why the right answer is right and the others are not, folded away; before that the answer, if it is given."""
    wrong = "\n\n".join(f"Not this: {because}\n\n{fenced(answer, 'text')}" for answer, because in quiz.wrong)
    right = f"It prints:\n\n{fenced(output, 'text')}\n\n" if output else ""
    title = "The answer, and why the others are wrong" if output else "Why, and why other answers are wrong"
    return folded(title, f"{right}{quiz.because}\n\n{wrong}")


def written(cells: list):
    """A notebook of some cells, the same each time: nbformat would draw their ids."""
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def as_cells(part: Part, separately: bool) -> list:
    """A piece of a page as cells; `separately`: its program gets a process of its own. A quiz keeps its answer."""
    if not part.program:
        return [new_markdown_cell(part.text)]
    source = alone(part.text) if separately else part.text
    if part.quiz:
        return [new_markdown_cell(asked(part.quiz)), new_code_cell(source), new_markdown_cell(mistakes(part.quiz))]
    printed = [new_output("stream", name="stdout", text=part.output)] if part.output else []
    return [new_code_cell(source, outputs=printed)]


def as_notebook(found: list[Part], edition: Edition, shared: bool):
    """The page as a notebook that first installs torch; `shared`: its cells need one another."""
    made = [new_code_cell(f'%pip install --quiet "torch=={edition.release}" "numpy>=2.1,<3" "pyyaml>=6,<7"')]
    apart = [part.program and not shared and needs(part.text).alone for part in found]
    if any(apart):
        made.append(new_code_cell(RUNNER.rstrip()))
    return written(made + [cell for part, separately in zip(found, apart) for cell in as_cells(part, separately)])


def as_script(notebook) -> str:
    """The cells of a notebook as a script, in which a picture is its caption and its table."""
    import jupytext

    plain = copy.deepcopy(notebook)
    for cell in plain.cells:
        cell.source = PICTURE.sub("", cell.source)
    return jupytext.writes(plain, "py:percent")
