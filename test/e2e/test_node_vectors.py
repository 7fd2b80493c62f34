# SPDX-License-Identifier: Apache-2.0
"""Single operators against ONNX's own test vectors (Debian: libonnx-testdata).

A vector's first input stays the input, whose leading dimension hpcc takes for
the batch; the others become initializers where they are parameters. Vectors
that reduce or move the leading dimension have no meaning as a network.
"""
import pathlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from e2e.test_models import infer

VECTORS = pathlib.Path("/usr/share/libonnx-testdata/data/node")

WITH_PARAMETERS = """
basic_conv_with_padding basic_conv_without_padding conv_with_autopad_same
conv_with_strides_and_asymmetric_padding conv_with_strides_no_padding conv_with_strides_padding
batchnorm_epsilon batchnorm_example gemm_alpha gemm_beta
gemm_default_no_bias gemm_default_scalar_bias
gemm_default_single_elem_vector_bias gemm_default_vector_bias gemm_default_zero_bias
gemm_transposeB matmul_2d add_bcast sub_bcast mul_bcast div_bcast clip clip_default_max
clip_default_min clip_default_inbounds clip_example clip_inbounds clip_outbounds
clip_splitbounds constant_pad squeeze_negative_axes unsqueeze_axis_1 unsqueeze_axis_2
unsqueeze_negative_axes unsqueeze_two_axes
""".split()

PLAIN = """
averagepool_2d_ceil averagepool_2d_default averagepool_2d_pads
averagepool_2d_pads_count_include_pad averagepool_2d_precomputed_pads
averagepool_2d_precomputed_pads_count_include_pad averagepool_2d_precomputed_same_upper
averagepool_2d_precomputed_strides averagepool_2d_same_lower averagepool_2d_same_upper
averagepool_2d_strides globalaveragepool globalaveragepool_precomputed maxpool_2d_ceil
maxpool_2d_default maxpool_2d_dilations maxpool_2d_pads maxpool_2d_precomputed_pads
maxpool_2d_precomputed_same_upper maxpool_2d_precomputed_strides maxpool_2d_same_lower
maxpool_2d_same_upper maxpool_2d_strides lrn lrn_default relu leakyrelu leakyrelu_default
leakyrelu_example sigmoid sigmoid_example tanh tanh_example identity add sub mul div sub_example
mul_example div_example sum_example sum_one_input sum_two_inputs concat_2d_axis_1
concat_2d_axis_negative_1 concat_3d_axis_1 concat_3d_axis_2 concat_3d_axis_negative_1
concat_3d_axis_negative_2 flatten_axis1 flatten_default_axis flatten_negative_axis3
transpose_all_permutations_0 transpose_all_permutations_1 softmax_axis_1 softmax_axis_2
softmax_default_axis softmax_example softmax_large_number softmax_negative_axis
logsoftmax_axis_1 logsoftmax_axis_2 logsoftmax_default_axis logsoftmax_example_1
logsoftmax_large_number logsoftmax_negative_axis dropout_default dropout_default_ratio
dropout_default_old
""".split()


def tensors(folder, kind):
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(str(f))) for f in files]


@pytest.mark.parametrize("name, parameters", [(n, True) for n in WITH_PARAMETERS]
                         + [(n, False) for n in PLAIN])
def test_node(tmp_path, name, parameters):
    folder = VECTORS / f"test_{name}"
    if not folder.exists():
        pytest.skip(f"no {folder}: the package libonnx-testdata is not installed")
    model = onnx.load(folder / "model.onnx")
    inputs = tensors(folder / "test_data_set_0", "input")
    outputs = tensors(folder / "test_data_set_0", "output")
    names = [i.name for i in model.graph.input]
    kept = len(inputs)
    if parameters or len(inputs) > 1 and inputs[1].ndim == 0:
        kept = 1
        model.graph.initializer.extend(
            numpy_helper.from_array(value, n) for n, value in zip(names[1:], inputs[1:]))
        del model.graph.input[1:]
    model.ir_version = max(model.ir_version, 4)
    for imported in model.opset_import:  # GlobalAveragePool is the same since opset 1
        imported.version = max(imported.version, 7)
    actual = infer(tmp_path, model, dict(zip(names[:kept], inputs[:kept])))
    for output, expected in zip(model.graph.output, outputs):
        np.testing.assert_allclose(actual[output.name], expected, rtol=1e-3, atol=1e-6,
                                   err_msg=f"{name}: {output.name}")
