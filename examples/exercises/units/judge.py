"""Compare what Quantity makes of values, units, memory and gradients with a table of rules."""

import contextlib

import torch
from check import Wrong

UNITS = {"m": {"m": 1}, "s": {"s": 1}, "v": {"m": 1, "s": -1}, "n": {}}
PRODUCTS = (
    ("m * s", "m", "s", {"m": 1, "s": 1}, lambda a, b: a * b),
    ("m.mul(v)", "m", "v", {"m": 2, "s": -1}, lambda a, b: a.mul(b)),
    ("v * s", "v", "s", {"m": 1}, lambda a, b: a * b),
    ("m / v", "m", "v", {"s": 1}, lambda a, b: a / b),
    ("m.div(s)", "m", "s", {"m": 1, "s": -1}, lambda a, b: a.div(b)),
    ("m / m", "m", "m", {}, lambda a, b: a / b),
)
KEPT = (
    ("x.sum()", lambda x: x.sum()),
    ("x.mean()", lambda x: x.mean()),
    ("-x", lambda x: -x),
    ("x.clone()", lambda x: x.clone()),
    ("x.detach()", lambda x: x.detach()),
)
VIEWS = (
    ("x[0]", lambda x: x[0]),
    ("x[:, 1:]", lambda x: x[:, 1:]),
    ("x.view(6)", lambda x: x.view(6)),
    ("x.reshape(3, 2)", lambda x: x.reshape(3, 2)),
    ("x.transpose(0, 1)", lambda x: x.transpose(0, 1)),
)


def bare(x):
    """The same tensor without its class, whatever its handler does."""
    with torch._C.DisableTorchFunctionSubclass():
        return x.as_subclass(torch.Tensor)


@contextlib.contextmanager
def no_loop():
    """Explain an endless recursion."""
    try:
        yield
    except RecursionError:
        raise Wrong(
            "RecursionError: the handler never ends. Its arguments are still Quantities, so each call of func asks the "
            "handler again. Make the call under torch._C.DisableTorchFunctionSubclass()."
        ) from None


def expect(work, what, came, values, unit, idea=""):
    """Raise Wrong when what came is no Quantity with these values and this unit."""
    if not isinstance(came, torch.Tensor):
        raise Wrong(f"{what}\n  gave      {came!r}\n  expected  a Quantity")
    if not isinstance(came, work.Quantity) or not hasattr(came, "unit"):
        lost = "is no Quantity, or has no unit. Give the result of func the class and the unit."
        raise Wrong(f"{what}\n  {idea or lost}")
    if dict(came.unit) != unit:
        if {base: exponent for base, exponent in came.unit.items() if exponent} == unit:
            idea = "The unit holds an exponent of 0. Leave it out, or two equal units are unequal dicts."
        raise Wrong(f"{what}\n  has unit  {came.unit}\n  expected  {unit}\n{idea}".rstrip())
    if bare(came).shape != values.shape or not torch.allclose(bare(came), values):
        raise Wrong(f"{what}\n  gave      {bare(came).tolist()}\n  expected  {values.tolist()}")


def made(work, name, x):
    return work.quantity(x, **UNITS[name])


def check_quantity(work, x, y):
    q = work.quantity(x, m=1, s=-2)
    expect(work, "quantity(x, m=1, s=-2)", q, x, {"m": 1, "s": -2})
    if bare(q).data_ptr() != x.data_ptr():
        raise Wrong("quantity(x, ...) has copied the elements: a write to x does not show. Use x.as_subclass.")
    other = work.quantity(y, kg=1)
    expect(work, "A Quantity, after another one was made,", q, x, {"m": 1, "s": -2}, "The unit belongs to the tensor.")
    expect(work, "quantity(y, kg=1)", other, y, {"kg": 1})


def check_products(work, x, y):
    for what, left, right, unit, call in PRODUCTS:
        a, b = made(work, left, x), made(work, right, y)
        expect(work, what, call(a, b), call(x, y), unit)
        if dict(a.unit) != UNITS[left] or dict(b.unit) != UNITS[right]:
            raise Wrong(f"{what} has changed the unit of an operand. Make a new dict for the result.")
    for what, call in (("torch.mul(m, s)", torch.mul), ("torch.div(m, s)", torch.div)):
        idea = (
            "You may have listed torch.Tensor.mul and its like. A function of torch and a method of a tensor are two "
            "objects, and func is the one that was called. Their __name__ is the same."
        )
        sign = 1 if call is torch.mul else -1
        unit = {"m": 1, "s": sign}
        expect(work, what, call(made(work, "m", x), made(work, "s", y)), call(x, y), unit, idea)


def check_plain_operands(work, x, y):
    m = made(work, "m", x)
    idea = "A number or an ordinary tensor counts as {}, the unit of a pure number, on either side."
    for what, call, unit in (
        ("m * 2", lambda m: m * 2, {"m": 1}),
        ("m / y, y an ordinary tensor", lambda m: m / y, {"m": 1}),
        ("2 * m", lambda m: 2 * m, {"m": 1}),
        ("y * m, y an ordinary tensor", lambda m: y * m, {"m": 1}),
        ("y / m, y an ordinary tensor", lambda m: y / m, {"m": -1}),
    ):
        try:
            came = call(m)
        except AttributeError as error:
            raise Wrong(f"{what}\n  raised    {error}\n{idea}") from None
        expect(work, what, came, call(x), unit, idea)


def check_sums(work, x, y):
    for what, call in (("m + m", lambda a, b: a + b), ("torch.sub(m, m)", torch.sub)):
        expect(work, what, call(made(work, "m", x), made(work, "m", y)), call(x, y), {"m": 1})
    came = torch.add(made(work, "m", x), made(work, "m", y), alpha=3)
    if isinstance(came, torch.Tensor) and torch.allclose(bare(came), x + y):
        raise Wrong("torch.add(m, m, alpha=3) has ignored alpha. The handler has to pass kwargs on.")
    expect(work, "torch.add(m, m, alpha=3)", came, x + 3 * y, {"m": 1})
    cases = (
        (
            "m + s",
            lambda: made(work, "m", x) + made(work, "s", y),
            "Two lengths can be added, a length and a time not.",
        ),
        (
            "m - v",
            lambda: made(work, "m", x) - made(work, "v", y),
            "Two lengths can be added, a length and a time not.",
        ),
        ("m + 1", lambda: made(work, "m", x) + 1, "A pure number cannot be added to a length either: its unit is {}."),
        ("y - m, y an ordinary tensor", lambda: y - made(work, "m", x), "An ordinary tensor is a pure number, too."),
    )
    for what, call, idea in cases:
        try:
            call()
        except ValueError as error:
            if what == "m + s" and not all(f"'{base}'" in str(error) for base in "ms"):
                raise Wrong(f"m + s raised ValueError, but its message names not both units: {error}") from None
        except (TypeError, AttributeError) as error:
            raise Wrong(f"{what}\n  raised    {error!r}\n  expected  ValueError") from None
        else:
            raise Wrong(f"{what} raised nothing. {idea}")
    expect(work, "n + 1, n a pure number", made(work, "n", x) + 1, x + 1, {})


def check_kept(work, x, y):
    for what, call in KEPT:
        expect(work, f"{what} in m", call(made(work, "m", x)), call(x), {"m": 1})
    came = made(work, "m", x).sum(dim=1)
    expect(work, "x.sum(dim=1) in m", came, x.sum(dim=1), {"m": 1})
    idea = "A view shows some of the elements, and they have the same unit. x[0] arrives under the name __getitem__."
    for what, call in VIEWS:
        came = call(made(work, "m", x))
        expect(work, f"{what} in m", came, call(x), {"m": 1}, idea)
        if bare(came).untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
            raise Wrong(f"{what} has a memory of its own, so it is no view any more")


def check_gradients(work, x, y):
    w = x.clone().requires_grad_()
    q = work.quantity(w, m=1)
    energy = (q * q).sum()
    expect(work, "(x * x).sum() in m", energy, (x * x).sum(), {"m": 2})
    if not bare(energy).requires_grad:
        raise Wrong(
            "x requires grad, and (x * x).sum() does not. Something has cut the graph on the way: look for detach, "
            ".data, no_grad or torch.tensor."
        )
    energy.backward()
    if w.grad is None or not torch.allclose(w.grad, 2 * x):
        raise Wrong(f"The gradient of (x * x).sum()\n  gave      {w.grad}\n  expected  {2 * x}")
    for what, came in (("torch.exp(x)", torch.exp(made(work, "m", x))), ("x > 1", made(work, "m", x) > 1)):
        if type(came) is not torch.Tensor:
            raise Wrong(
                f"{what} is a {type(came).__name__}. The exponential of a length has no meaning, and a comparison has "
                "no unit. A function without a rule gives an ordinary tensor, so that nobody takes it for a length."
            )


def check(work):
    if not (isinstance(work.Quantity, type) and issubclass(work.Quantity, torch.Tensor)):
        raise Wrong("Quantity is no subclass of torch.Tensor")
    torch.manual_seed(0)
    x, y = torch.rand(2, 3) + 1, torch.rand(2, 3) + 1
    parts = (check_quantity, check_products, check_plain_operands, check_sums, check_kept, check_gradients)
    with no_loop():
        for part in parts:
            part(work, x, y)
