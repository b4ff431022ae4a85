"""A page as Markdown with its outputs, for programs that read."""

from inside_torch.fences import fenced
from inside_torch.take.notebook import asked, mistakes
from inside_torch.take.parts import Part


def shown(part: Part) -> list[str]:
    """The paragraphs of a piece of a page: prose, or a program with its output below; a quiz's is folded away."""
    if not part.program:
        return [part.text]
    program = fenced(part.text, "python")
    if part.quiz:
        return [asked(part.quiz), program, mistakes(part.quiz, part.output)]
    return [program, fenced(part.output, "text")] if part.output.strip() else [program]


def as_markdown(found: list[Part]) -> str:
    """The page with each output below its block."""
    return "\n\n".join(paragraph for part in found for paragraph in shown(part)) + "\n"
