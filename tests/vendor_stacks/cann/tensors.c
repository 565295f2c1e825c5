/* aclTensor and aclScalar: made by the caller of an operator, read and written by the operator. */
#include "tensors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements */

static float from_bfloat16(const char *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void to_bfloat16(char *at, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!isnan(value)) bits += 0x7FFF + (bits >> 16 & 1); /* round to nearest, ties to even */
    uint16_t half = (uint16_t)(bits >> 16);
    memcpy(at, &half, sizeof half);
}

/* The type's number, its C type; bool and bfloat16 are told apart in read and write. */
#define TYPES(DO)           \
    DO(ACL_FLOAT, float)    \
    DO(ACL_FLOAT16, _Float16) \
    DO(ACL_INT8, int8_t)    \
    DO(ACL_INT32, int32_t)  \
    DO(ACL_UINT8, uint8_t)  \
    DO(ACL_INT16, int16_t)  \
    DO(ACL_INT64, int64_t)  \
    DO(ACL_DOUBLE, double)

size_t sim_width(int type) {
    switch (type) {
#define SIZE(number, c_type) \
    case number: return sizeof(c_type);
        TYPES(SIZE)
        case ACL_BOOL: return 1;
        case ACL_BF16: return 2;
        default: return 0;
    }
}

double sim_read(int type, const char *at) {
    switch (type) {
#define READ(number, c_type)           \
    case number: {                     \
        c_type value;                  \
        memcpy(&value, at, sizeof value); \
        return (double)value;          \
    }
        TYPES(READ)
        case ACL_BOOL: return *at != 0;
        default: return from_bfloat16(at);
    }
}

void sim_write(int type, char *at, double value) {
    switch (type) {
#define WRITE(number, c_type)            \
    case number: {                       \
        c_type narrowed = (c_type)value; \
        memcpy(at, &narrowed, sizeof narrowed); \
        return;                          \
    }
        TYPES(WRITE)
        case ACL_BOOL: *at = value != 0; return;
        default: to_bfloat16(at, (float)value);
    }
}

/* ---- tensors */

int64_t sim_elements(const Tensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

static char *at(const Tensor *tensor, int64_t position) {
    int64_t offset = 0;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        offset += position % tensor->dims[i] * tensor->strides[i];
        position /= tensor->dims[i];
    }
    return tensor->data + offset * (int64_t)sim_width(tensor->type);
}

Tensor sim_broadcast(const Tensor *tensor, const Tensor *like) {
    Tensor wide = *like;
    wide.data = tensor->data;
    wide.type = tensor->type;
    for (int i = 0; i < like->rank; i++) {
        int own = i - (like->rank - tensor->rank);
        wide.strides[i] = own < 0 || tensor->dims[own] == 1 ? 0 : tensor->strides[own];
    }
    return wide;
}

double *sim_read_all(const Tensor *tensor) {
    int64_t count = sim_elements(tensor);
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = sim_read(tensor->type, at(tensor, i));
    return values;
}

double *sim_sum_over(const Tensor *tensor, unsigned dimensions) {
    int64_t count = sim_elements(tensor);
    double *sums = calloc((size_t)count + 1, sizeof *sums);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, place = 0, size = 1;
        for (int dimension = tensor->rank - 1; dimension >= 0; dimension--) {
            int64_t own = rest % tensor->dims[dimension];
            rest /= tensor->dims[dimension];
            if (dimensions >> dimension & 1) continue;
            place += own * size;
            size *= tensor->dims[dimension];
        }
        sums[place] += sim_read(tensor->type, at(tensor, i));
    }
    return sums;
}

void sim_write_all(const Tensor *tensor, const double *values) {
    int64_t count = sim_elements(tensor);
    for (int64_t i = 0; i < count; i++) sim_write(tensor->type, at(tensor, i), values[i]);
}

static bool side_by_side(const Tensor *tensor) {
    int64_t stride = 1;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->dims[i] != 1 && tensor->strides[i] != stride) return false;
        stride *= tensor->dims[i];
    }
    return true;
}

void sim_fill(const Tensor *tensor, double value) {
    int64_t count = sim_elements(tensor);
    if (!side_by_side(tensor)) {
        for (int64_t i = 0; i < count; i++) sim_write(tensor->type, at(tensor, i), value);
    } else if (count > 0) {
        size_t total = (size_t)count * sim_width(tensor->type), done = sim_width(tensor->type);
        sim_write(tensor->type, tensor->data, value);
        for (; done < total; done *= 2)
            memcpy(tensor->data + done, tensor->data, done < total - done ? done : total - done);
    }
}

/* ---- CANN's calls */

EXPORT Tensor *aclCreateTensor(const int64_t *dims, uint64_t rank, int type, const int64_t *strides, int64_t offset,
                               int format, const int64_t *storage_dims, uint64_t storage_rank, void *data) {
    if (sim_entered(__func__) || rank > MAX_RANK) return NULL;
    Tensor *tensor = calloc(1, sizeof *tensor);
    tensor->data = (char *)data + offset * (int64_t)sim_width(type);
    tensor->type = type;
    tensor->rank = (int)rank;
    memcpy(tensor->dims, dims, rank * sizeof *dims);
    memcpy(tensor->strides, strides, rank * sizeof *strides);
    return tensor;
}

EXPORT int aclDestroyTensor(Tensor *tensor) {
    free(tensor);
    return ACL_SUCCESS;
}

EXPORT Scalar *aclCreateScalar(void *value, int type) {
    if (sim_entered(__func__)) return NULL;
    Scalar *scalar = calloc(1, sizeof *scalar);
    scalar->known = sim_width(type) > 0;
    if (scalar->known) scalar->value = sim_read(type, value);
    return scalar;
}

EXPORT int aclDestroyScalar(Scalar *scalar) {
    free(scalar);
    return ACL_SUCCESS;
}

EXPORT IntArray *aclCreateIntArray(const int64_t *values, uint64_t size) {
    if (sim_entered(__func__) || size > MAX_RANK) return NULL;
    IntArray *array = calloc(1, sizeof *array);
    array->size = size;
    if (size) memcpy(array->values, values, size * sizeof *values);
    return array;
}

EXPORT int aclDestroyIntArray(IntArray *array) {
    free(array);
    return ACL_SUCCESS;
}
