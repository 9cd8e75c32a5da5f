/* SPDX-License-Identifier: Apache-2.0 */
/* Data movement and what is made from shapes, as they are written to ONNX. */
#include "onnx_written.h"

static const written movements[] = {
    {"concat", SK_OP_CONCAT, {.axis = 1}, "x y x", 0, 0},
    {"concat of one", SK_OP_CONCAT, {.axis = -1}, "x", 0, 0},
    {"concat of whole numbers", SK_OP_CONCAT, {.axis = 0}, "S i[7]", 0, 0},
    {"split in sizes", SK_OP_SPLIT, {.split = {1, 3, {1, 2, 1}}}, "x", 3, 0},
    {"split in equal parts", SK_OP_SPLIT, {.split = {-1, 0, {0}}}, "x", 4, 0},
    {"split in one", SK_OP_SPLIT, {.split = {1, 1, {4}}}, "x", 1, 0},
    {"slice", SK_OP_SLICE, {.axis = 0}, "x i[1,2] i[100,-1]", 0, 1},
    {"slice of axes", SK_OP_SLICE, {.axis = 0}, "x i[1] i[3] i[-1]", 0, 0},
    {"slice of numbers", SK_OP_SLICE, {.axis = 0}, "x i1 i3 i2", 0, 0},
    {"slice, steps", SK_OP_SLICE, {.axis = 0}, "x i[-1,0] i[-9,6] i[3,2] i[-2,3]", 0, 0},
    {"slice, steps of every axis", SK_OP_SLICE, {.axis = 0}, "x i[0,0,0,0] i[1,4,5,8] - i[1,2,3,1]", 0, 0},
    {"reshape", SK_OP_RESHAPE, {.axis = 0}, "x i[0,-1]", 0, 0},
    {"reshape to a number", SK_OP_RESHAPE, {.axis = 0}, "x i-1", 0, 1},
    {"reshape, made", SK_OP_RESHAPE, {.axis = 0}, "y S", 0, 0},
    {"transpose", SK_OP_TRANSPOSE, {.perm = {0, 2, 3, 1}}, "x", 0, 0},
    {"transpose, whole turn", SK_OP_TRANSPOSE, {.perm = {3, 2, 1, 0}}, "x", 0, 0},
    {"transpose of two", SK_OP_TRANSPOSE, {.perm = {1, 0}}, "w3x5", 0, 0},
    {"transpose of one", SK_OP_TRANSPOSE, {.perm = {0}}, "w5", 0, 0},
    {"transpose of eight", SK_OP_TRANSPOSE, {.perm = {7, 1, 2, 3, 4, 5, 6, 0}}, "w2x1x1x1x1x1x1x3", 0, 0},
    {"transpose of three of eight", SK_OP_TRANSPOSE, {.perm = {1, 2, 0, -1, 99}}, "w2x3x4", 0, 1},
    {"transpose, no order at all", SK_OP_TRANSPOSE, {.perm = {5, 5, 5, 5, 5, 5, 5, 5}}, "x", 0, 1},
    {"transpose, one axis twice", SK_OP_TRANSPOSE, {.perm = {0, 2, 2}}, "x", 0, 1},
    {"squeeze", SK_OP_SQUEEZE, {.axis = 0}, "c i[1]", 0, 0},
    {"squeeze of a number", SK_OP_SQUEEZE, {.axis = 0}, "d i-1", 0, 0},
    {"squeeze of all", SK_OP_SQUEEZE, {.axis = 0}, "w1x3x1", 0, 0},
    {"unsqueeze", SK_OP_UNSQUEEZE, {.axis = 0}, "x i[0,-1]", 0, 0},
    {"flatten", SK_OP_FLATTEN, {.axis = 2}, "x", 0, 0},
    {"flatten from the end", SK_OP_FLATTEN, {.axis = -1}, "x", 0, 0},
    {"expand", SK_OP_EXPAND, {.axis = 0}, "c i[1,3,1,1]", 0, 0},
    {"tile", SK_OP_TILE, {.axis = 0}, "x i[1,2,1,2]", 0, 0},
    {"pad", SK_OP_PAD, {.pad = {0}}, "x i[0,0,1,2,0,0,3,0] f-7", 0, 0},
    {"pad with nothing", SK_OP_PAD, {.pad = {0}}, "x i[0,0,1,2,0,0,3,0]", 0, 0},
    {"pad with the edge", SK_OP_PAD, {.pad = {1}}, "x i[0,0,1,2,0,0,3,0]", 0, 0},
    {"pad with a mirror", SK_OP_PAD, {.pad = {2}}, "x i[0,0,1,2,0,0,3,0]", 0, 0},
    {"depth to space", SK_OP_DEPTH_TO_SPACE, {.blocks = {2, 0}}, "x", 0, 0},
    {"depth to space, columns first", SK_OP_DEPTH_TO_SPACE, {.blocks = {2, 1}}, "x", 0, 0},
    {"space to depth", SK_OP_SPACE_TO_DEPTH, {.blocks = {2, 0}}, "x", 0, 0},
    {"space to depth, columns first", SK_OP_SPACE_TO_DEPTH, {.blocks = {2, 1}}, "x", 0, 0},
    {"identity", SK_OP_IDENTITY, {.axis = 0}, "x", 0, 0},
    {"no name", SK_OP_NONE, {.axis = 0}, "x", 0, 1},
};

static const written places[] = {
    {"gather", SK_OP_GATHER, {.axis = 1}, "x i[3,0,-1]", 0, 0},
    {"gather of one", SK_OP_GATHER, {.axis = -1}, "x i2", 0, 0},
    {"gather of elements", SK_OP_GATHER_ELEMENTS, {.axis = 0}, "w8 i[3,0]", 0, 0},
    {"gather nd", SK_OP_GATHER_ND, {.axis = 0}, "x i[1,2]", 0, 0},
    {"gather nd, batches", SK_OP_GATHER_ND, {.axis = 1}, "x n", 0, 1},
    {"scatter of elements", SK_OP_SCATTER_ELEMENTS, {.axis = 0}, "w8 i[3,0] w2", 0, 0},
    {"scatter nd", SK_OP_SCATTER_ND, {.axis = 0}, "w8 i[3] f2", 0, 0},
    {"shape", SK_OP_SHAPE, {.axis = 0}, "x", 0, 0},
    {"size", SK_OP_SIZE, {.axis = 0}, "y", 0, 0},
    {"range", SK_OP_RANGE, {.axis = 0}, "i0 h i2", 0, 0},
    {"range of floats", SK_OP_RANGE, {.axis = 0}, "f0.5 f3 f0.25", 0, 0},
    {"range, made", SK_OP_RANGE, {.axis = 0}, "f0.5 k f0.25", 0, 0},
    {"filled", SK_OP_CONSTANT_OF_SHAPE, {.fill = {SK_DTYPE_F32, 2.5}}, "S", 0, 0},
    {"filled with whole numbers", SK_OP_CONSTANT_OF_SHAPE, {.fill = {SK_DTYPE_I64, -3}}, "i[2,3]", 0, 0},
    {"filled, a list of one number", SK_OP_CONSTANT_OF_SHAPE, {.fill = {SK_DTYPE_U8, 3}}, "i4", 0, 0},
    {"one hot", SK_OP_ONE_HOT, {.axis = -1}, "i[2,0,-1] i5 o", 0, 0},
    {"one hot, first", SK_OP_ONE_HOT, {.axis = 0}, "n i5 o", 0, 0},
    {"eye", SK_OP_EYE_LIKE, {.fill = {SK_DTYPE_F32, 1}}, "w3x4", 0, 0},
    {"eye, its own type, below", SK_OP_EYE_LIKE, {.fill = {SK_DTYPE_NONE, -1}}, "w3x4", 0, 0},
    {"eye of whole numbers", SK_OP_EYE_LIKE, {.fill = {SK_DTYPE_I64, 0}}, "w3x4", 0, 0},
};

WRITTEN_TEST(movements)
WRITTEN_TEST(places)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(movements_as_written),
        cmocka_unit_test(places_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
