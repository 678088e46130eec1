// SPDX-License-Identifier: BSD-3-Clause
//
// The routines of ScaLAPACK and BLACS that are called here; they come without a header. Integers
// have 32 bits, indices count from 1, characters are passed without their lengths.
#pragma once

#include <mpi.h>

// NOLINTBEGIN(readability-identifier-naming): names of Fortran and BLACS
extern "C" {
int Csys2blacs_handle(MPI_Comm communicator);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int num_rows, int num_cols);
void Cblacs_gridinfo(int context, int* num_rows, int* num_cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_set(int context, int what, int* value);

void descinit_(int* descriptor,
               const int* rows,
               const int* cols,
               const int* row_block,
               const int* col_block,
               const int* first_row,
               const int* first_col,
               const int* context,
               const int* leading_dimension,
               int* info);
void pdsytrd_(const char* uplo,
              const int* n,
              double* a,
              const int* ia,
              const int* ja,
              const int* desc_a,
              double* d,
              double* e,
              double* tau,
              double* work,
              const int* lwork,
              int* info);
void pdormtr_(const char* side,
              const char* uplo,
              const char* trans,
              const int* m,
              const int* n,
              const double* a,
              const int* ia,
              const int* ja,
              const int* desc_a,
              const double* tau,
              double* c,
              const int* ic,
              const int* jc,
              const int* desc_c,
              double* work,
              const int* lwork,
              int* info);
void pdsymm_(const char* side,
             const char* uplo,
             const int* m,
             const int* n,
             const double* alpha,
             const double* a,
             const int* ia,
             const int* ja,
             const int* desc_a,
             const double* b,
             const int* ib,
             const int* jb,
             const int* desc_b,
             const double* beta,
             double* c,
             const int* ic,
             const int* jc,
             const int* desc_c);
void pdgemm_(const char* trans_a,
             const char* trans_b,
             const int* m,
             const int* n,
             const int* k,
             const double* alpha,
             const double* a,
             const int* ia,
             const int* ja,
             const int* desc_a,
             const double* b,
             const int* ib,
             const int* jb,
             const int* desc_b,
             const double* beta,
             double* c,
             const int* ic,
             const int* jc,
             const int* desc_c);
void pdsyrk_(const char* uplo,
             const char* trans,
             const int* n,
             const int* k,
             const double* alpha,
             const double* a,
             const int* ia,
             const int* ja,
             const int* desc_a,
             const double* beta,
             double* c,
             const int* ic,
             const int* jc,
             const int* desc_c);
void pdtran_(const int* m,
             const int* n,
             const double* alpha,
             const double* a,
             const int* ia,
             const int* ja,
             const int* desc_a,
             const double* beta,
             double* c,
             const int* ic,
             const int* jc,
             const int* desc_c);
void pdstedc_(const char* compz,
              const int* n,
              double* d,
              double* e,
              double* q,
              const int* iq,
              const int* jq,
              const int* desc_q,
              double* work,
              const int* lwork,
              int* iwork,
              const int* liwork,
              int* info);
void pdpotrf_(const char* uplo,
              const int* n,
              double* a,
              const int* ia,
              const int* ja,
              const int* desc_a,
              int* info);
}

// NOLINTEND(readability-identifier-naming)

namespace hesscope::detail {

/// The 1-based index of the first row or column.
inline constexpr int kOne = 1;

}  // namespace hesscope::detail
