/* A few operators, enough to fill, copy, add and multiply: torch_npu finds them in libopapi.so by name.
 *
 * Each comes in two steps, as in CANN: NAMEGetWorkspaceSize makes an executor of the arguments, NAME queues it.
 * Whatever is not here raises in torch_npu; it never computes nothing.
 */
#include "tensors.h"
#include <math.h>
#include <stdlib.h>

enum { ACLNN_ERR_PARAM_INVALID = 161002 };

typedef struct {
    Work work;
    double (*function)(double);
    Tensor out, left, right, added;
    double scalar, from, to;
    uint64_t seed;
    unsigned dimensions; /* one bit each */
} Operation; /* aclOpExecutor */

/* ---- what they do */

static void fill(const void *argument) {
    const Operation *operation = argument;
    sim_fill(&operation->out, operation->scalar);
}

static double *read_as(const Tensor *tensor, const Tensor *like) {
    Tensor wide = sim_broadcast(tensor, like);
    return sim_read_all(&wide);
}

static void copy(const void *argument) {
    const Operation *operation = argument;
    double *values = read_as(&operation->left, &operation->out);
    sim_write_all(&operation->out, values);
    free(values);
}

/* out = left + scalar * right */
static void add(const void *argument) {
    const Operation *operation = argument;
    double *left = read_as(&operation->left, &operation->out), *right = read_as(&operation->right, &operation->out);
    int64_t count = sim_elements(&operation->out);
    for (int64_t i = 0; i < count; i++) left[i] += operation->scalar * right[i];
    sim_write_all(&operation->out, left);
    free(left);
    free(right);
}

/* out = left * scalar + to */
static void scale(const void *argument) {
    const Operation *operation = argument;
    double *left = read_as(&operation->left, &operation->out);
    int64_t count = sim_elements(&operation->out);
    for (int64_t i = 0; i < count; i++) left[i] = left[i] * operation->scalar + operation->to;
    sim_write_all(&operation->out, left);
    free(left);
}

static void multiply(const void *argument) {
    const Operation *operation = argument;
    double *left = read_as(&operation->left, &operation->out), *right = read_as(&operation->right, &operation->out);
    int64_t count = sim_elements(&operation->out);
    for (int64_t i = 0; i < count; i++) left[i] *= right[i];
    sim_write_all(&operation->out, left);
    free(left);
    free(right);
}

static double positive(double value) { return value > 0 ? value : 0; }

static double sign(double value) { return (value > 0) - (value < 0); }

static void apply(const void *argument) {
    const Operation *operation = argument;
    double *values = read_as(&operation->left, &operation->out);
    int64_t count = sim_elements(&operation->out);
    for (int64_t i = 0; i < count; i++) values[i] = operation->function(values[i]);
    sim_write_all(&operation->out, values);
    free(values);
}

static void sum(const void *argument) {
    const Operation *operation = argument;
    double *values = sim_sum_over(&operation->left, operation->dimensions);
    sim_write_all(&operation->out, values);
    free(values);
}

static unsigned bits(const IntArray *dimensions, const Tensor *tensor) {
    unsigned found = 0;
    for (uint64_t i = 0; i < dimensions->size; i++)
        found |= 1u << (dimensions->values[i] + (dimensions->values[i] < 0 ? tensor->rank : 0));
    return dimensions->size ? found : ~0u; /* none named: all of them */
}

static bool multipliable(const Operation *operation) {
    return operation->left.rank == 2 && operation->right.rank == 2 && operation->left.dims[1] == operation->right.dims[0];
}

/* out = scalar * left @ right + to * added */
static void matrix_product(const void *argument) {
    const Operation *operation = argument;
    int64_t rows = operation->left.dims[0], inner = operation->left.dims[1], columns = operation->right.dims[1];
    double *left = sim_read_all(&operation->left), *right = sim_read_all(&operation->right);
    double *out = operation->added.data ? read_as(&operation->added, &operation->out)
                                        : calloc((size_t)(rows * columns + 1), sizeof *out);
    for (int64_t i = 0; i < rows * columns; i++) out[i] *= operation->to;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < inner; i++)
            for (int64_t column = 0; column < columns; column++)
                out[row * columns + column] +=
                    operation->scalar * left[row * inner + i] * right[i * columns + column];
    sim_write_all(&operation->out, out);
    free(left);
    free(right);
    free(out);
}

/* One number of a sequence without state: splitmix64 (Steele, Lea, Flood: OOPSLA 2014), 53 bits of it. */
static double uniform_number(uint64_t seed, uint64_t position) {
    uint64_t bits = seed + (position + 1) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return (double)((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

static void uniform(const void *argument) {
    const Operation *operation = argument;
    int64_t count = sim_elements(&operation->out);
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = operation->from + (operation->to - operation->from) * uniform_number(operation->seed, (uint64_t)i);
    sim_write_all(&operation->out, values);
    free(values);
}

/* ---- the two steps */

static int prepared(const Operation *operation, uint64_t *workspace, Operation **executor) {
    const Tensor *tensors[] = {&operation->out, &operation->left, &operation->right, &operation->added};
    for (int i = 0; i < 4; i++)
        if (tensors[i]->data && !sim_width(tensors[i]->type)) return ACLNN_ERR_PARAM_INVALID;
    if (operation->work == matrix_product && !multipliable(operation)) return ACLNN_ERR_PARAM_INVALID;
    *workspace = 0;
    *executor = malloc(sizeof **executor);
    **executor = *operation;
    return ACL_SUCCESS;
}

/* NAMEGetWorkspaceSize with its parameters, from the fields of the operation; then NAME. */
#define OPERATOR(name, parameters, ...)                                                                    \
    EXPORT int name##GetWorkspaceSize parameters {                                                         \
        ENTER();                                                                                           \
        Operation operation = {__VA_ARGS__};                                                               \
        return prepared(&operation, workspace, executor);                                                  \
    }                                                                                                      \
    EXPORT int name(void *workspace, uint64_t size, Operation *executor, Stream *stream) {                 \
        ENTER();                                                                                           \
        int code = sim_queue(stream, executor->work, executor, sizeof *executor);                          \
        free(executor);                                                                                    \
        return code;                                                                                       \
    }
#define RESULT uint64_t *workspace, Operation **executor

OPERATOR(aclnnInplaceZero, (Tensor *self, RESULT), .work = fill, .out = *self)
OPERATOR(aclnnInplaceOne, (Tensor *self, RESULT), .work = fill, .out = *self, .scalar = 1)
OPERATOR(aclnnInplaceFillScalar, (Tensor *self, Scalar *value, RESULT), .work = fill, .out = *self,
         .scalar = value->value)
OPERATOR(aclnnInplaceCopy, (Tensor *self, Tensor *from, RESULT), .work = copy, .out = *self, .left = *from)
OPERATOR(aclnnCast, (Tensor *self, int type, Tensor *out, RESULT), .work = copy, .out = *out,
         .left = *self)
OPERATOR(aclnnAbs, (Tensor *self, Tensor *out, RESULT), .work = apply, .function = fabs, .out = *out, .left = *self)
OPERATOR(aclnnRelu, (Tensor *self, Tensor *out, RESULT), .work = apply, .function = positive, .out = *out,
         .left = *self)
OPERATOR(aclnnSign, (Tensor *self, Tensor *out, RESULT), .work = apply, .function = sign, .out = *out, .left = *self)
OPERATOR(aclnnAdd, (Tensor *self, Tensor *other, Scalar *alpha, Tensor *out, RESULT), .work = add, .out = *out,
         .left = *self, .right = *other, .scalar = alpha->value)
OPERATOR(aclnnAdds, (Tensor *self, Scalar *other, Scalar *alpha, Tensor *out, RESULT), .work = scale, .out = *out,
         .left = *self, .scalar = 1, .to = other->value * alpha->value)
OPERATOR(aclnnInplaceAdd, (Tensor *self, Tensor *other, Scalar *alpha, RESULT), .work = add, .out = *self,
         .left = *self, .right = *other, .scalar = alpha->value)
OPERATOR(aclnnInplaceAdds, (Tensor *self, Scalar *other, Scalar *alpha, RESULT), .work = scale, .out = *self,
         .left = *self, .scalar = 1, .to = other->value * alpha->value)
OPERATOR(aclnnMul, (Tensor *self, Tensor *other, Tensor *out, RESULT), .work = multiply, .out = *out, .left = *self,
         .right = *other)
OPERATOR(aclnnMuls, (Tensor *self, Scalar *other, Tensor *out, RESULT), .work = scale, .out = *out, .left = *self,
         .scalar = other->value)
OPERATOR(aclnnInplaceMul, (Tensor *self, Tensor *other, RESULT), .work = multiply, .out = *self, .left = *self,
         .right = *other)
OPERATOR(aclnnInplaceMuls, (Tensor *self, Scalar *other, RESULT), .work = scale, .out = *self, .left = *self,
         .scalar = other->value)
OPERATOR(aclnnMm, (Tensor *self, Tensor *other, Tensor *out, int8_t mode, RESULT), .work = matrix_product,
         .out = *out, .left = *self, .right = *other, .scalar = 1)
OPERATOR(aclnnMatmul, (Tensor *self, Tensor *other, Tensor *out, int8_t mode, RESULT), .work = matrix_product,
         .out = *out, .left = *self, .right = *other, .scalar = 1)
OPERATOR(aclnnAddmm, (Tensor *self, Tensor *left, Tensor *right, Scalar *beta, Scalar *alpha, Tensor *out, int8_t mode,
                      RESULT), .work = matrix_product, .out = *out, .left = *left, .right = *right, .added = *self,
         .scalar = alpha->value, .to = beta->value)
OPERATOR(aclnnReduceSum, (Tensor *self, IntArray *dimensions, bool kept, int type, Tensor *out, RESULT), .work = sum,
         .out = *out, .left = *self, .dimensions = bits(dimensions, self))
OPERATOR(aclnnInplaceUniform, (Tensor *self, double from, double to, uint64_t seed, uint64_t offset, RESULT),
         .work = uniform, .out = *self, .from = from, .to = to, .seed = seed + offset)

/* The older way to run an operator, which torch_npu takes where libopapi.so lacks a name. */
EXPORT int aclopCompileAndExecute(void) {
    ENTER();
    return ACL_ERROR_OP_NOT_FOUND;
}

EXPORT int aclopCompileAndExecuteV2(void) {
    ENTER();
    return ACL_ERROR_OP_NOT_FOUND;
}
