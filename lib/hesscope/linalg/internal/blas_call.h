// SPDX-License-Identifier: BSD-3-Clause
//
// Routines of the BLAS that LAPACK uses, declared here because the cblas.h on the include path may
// belong to another BLAS. Private to the sources that call them, like lapack_call.h.
#pragma once

#include <hesscope/linalg/internal/lapack_call.h>

// NOLINTBEGIN(readability-identifier-naming): names of Fortran
extern "C" {
void dsymv_(const char* uplo,
            const lapack_int* n,
            const double* alpha,
            const double* a,
            const lapack_int* lda,
            const double* x,
            const lapack_int* incx,
            const double* beta,
            double* y,
            const lapack_int* incy);
void dsymm_(const char* side,
            const char* uplo,
            const lapack_int* m,
            const lapack_int* n,
            const double* alpha,
            const double* a,
            const lapack_int* lda,
            const double* b,
            const lapack_int* ldb,
            const double* beta,
            double* c,
            const lapack_int* ldc);
void dgemm_(const char* transa,
            const char* transb,
            const lapack_int* m,
            const lapack_int* n,
            const lapack_int* k,
            const double* alpha,
            const double* a,
            const lapack_int* lda,
            const double* b,
            const lapack_int* ldb,
            const double* beta,
            double* c,
            const lapack_int* ldc);
void dtrsm_(const char* side,
            const char* uplo,
            const char* transa,
            const char* diag,
            const lapack_int* m,
            const lapack_int* n,
            const double* alpha,
            const double* a,
            const lapack_int* lda,
            double* b,
            const lapack_int* ldb);
void dsyr2k_(const char* uplo,
             const char* trans,
             const lapack_int* n,
             const lapack_int* k,
             const double* alpha,
             const double* a,
             const lapack_int* lda,
             const double* b,
             const lapack_int* ldb,
             const double* beta,
             double* c,
             const lapack_int* ldc);
}

// NOLINTEND(readability-identifier-naming)
