/* Tensors and scalars as operators see them: strided views of elements, read and written as double. */
#pragma once
#include "cann.h"

enum { MAX_RANK = 8 };

/* aclDataType of acl_base.h: the element types that the operators take. */
enum {
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_INT64 = 9,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_BF16 = 27,
};

typedef struct {
    char *data;
    int type, rank;
    int64_t dims[MAX_RANK], strides[MAX_RANK];
} Tensor; /* aclTensor */

typedef struct {
    double value;
    bool known; /* of a type that the operators take */
} Scalar; /* aclScalar */

typedef struct {
    uint64_t size;
    int64_t values[MAX_RANK];
} IntArray; /* aclIntArray */

/* Bytes of an element; 0 for a type that the operators do not take. */
size_t sim_width(int type);
double sim_read(int type, const char *at);
void sim_write(int type, char *at, double value);
int64_t sim_elements(const Tensor *tensor);
/* The same elements in the shape of another tensor, by torch's broadcasting rules. */
Tensor sim_broadcast(const Tensor *tensor, const Tensor *like);
/* Elements in row-major order, as doubles; the caller frees them. */
double *sim_read_all(const Tensor *tensor);
/* Sums over the dimensions whose bits are set, in the order of the others; the caller frees them. */
double *sim_sum_over(const Tensor *tensor, unsigned dimensions);
void sim_write_all(const Tensor *tensor, const double *values);
/* One value everywhere; fast where the elements lie side by side, as in a large new tensor. */
void sim_fill(const Tensor *tensor, double value);
