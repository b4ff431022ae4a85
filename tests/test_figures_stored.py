"""The figure of the sparse layouts shows what the tensors store, and refuses what it cannot show."""

from __future__ import annotations

import warnings

import pytest
import torch
from test_figures import rows_of

from inside_torch.figures import stored_parts
from inside_torch.figures.stored import HATCHED
from inside_torch.render.figures import checked_figure, figure_html

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


@pytest.fixture
def x() -> torch.Tensor:
    x = torch.zeros(4, 6, dtype=torch.int64)
    x[0, :2], x[2, 4], x[3, 4:] = torch.tensor([5, 7]), 2, torch.tensor([3, 4])
    return x


def test_the_parts_are_those_that_the_accessors_return(x):
    csr, bsc = x.to_sparse_csr(), x.to_sparse_bsc((2, 3))
    svg = stored_parts({"x": x, "COO": x.to_sparse(), "CSR": csr, "BSC": bsc}, title="t")
    rows = {(label, part): entries for label, part, entries in rows_of(svg)}
    assert rows["COO", "indices[0]"] == [0, 0, 2, 3, 3] and rows["COO", "values"] == [5, 7, 2, 3, 4]
    assert rows["CSR", "crow_indices"] == csr.crow_indices().tolist()
    assert rows["BSC", "ccol_indices"] == bsc.ccol_indices().tolist()
    assert rows["BSC", "values"] == bsc.values().tolist()
    figure_html(checked_figure(svg), "")


def test_stored_zeros_are_hatched_and_each_compressed_row_has_a_bracket(x):
    def drawn(form) -> str:
        return stored_parts({"x": x, "s": form}, title="t").split('class="figure it-narrow"')[0]

    csr, bsr, coo = (drawn(form) for form in (x.to_sparse_csr(), x.to_sparse_bsr((2, 2)), x.to_sparse()))
    assert csr.count('<path class="it-edge"') == 3 and ">row<" in csr and HATCHED not in csr
    assert bsr.count('<path class="it-edge"') == 2 + 3 and ">block row<" in bsr and HATCHED in bsr
    assert 'class="it-pill"' in bsr and 'class="it-pill"' not in csr
    assert ">end<" in csr and ">end<" in bsr and ">end<" not in coo
    assert "<path" not in coo and ">column<" in drawn(x.to_sparse_csc())


def test_values_at_one_place_are_added():
    places = torch.tensor([[0, 0], [1, 1]])
    s = torch.sparse_coo_tensor(places, torch.tensor([3, 4]), (1, 2), check_invariants=True)
    svg = stored_parts({"x": torch.tensor([[0, 7]]), "s": s}, title="t")
    assert rows_of(svg)[-1] == ["s", "values", [3, 4]]


def test_other_forms_and_other_matrices_are_refused(x):
    def form(*given):
        return lambda: stored_parts(dict(zip("abcde", given)), title="t")

    cases = [
        (form(x, 3), TypeError, "'b' must be a"),
        (form(x.to_sparse()), ValueError, "must be a dense one"),
        (form(torch.ones(2, 9)), ValueError, "at most 8 columns"),
        (form(torch.ones(4, 2)), ValueError, "three rows at most"),
        (form(x, x), ValueError, "'b' is no sparse matrix"),
        (form(x, x[:2].to_sparse()), ValueError, "of the same shape"),
        (form(x, (x + x).to_sparse()), ValueError, "the parts of 'b' do not give"),
        (form(x, x.t().contiguous().view(4, 6).to_sparse_csr()), ValueError, "the parts of 'b' do not give"),
        (form(*[x] * 5), ValueError, "1 to 4 matrices"),
        (form(torch.ones(2, 8), torch.ones(2, 8).to_sparse()), ValueError, "too wide"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw, kind, said in cases:
            with pytest.raises(kind, match=said):
                draw()
