//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// SUMS makes x0 the sums of the lanes of four registers; x1 is the second of them.
#define SUMS(y0, y1, y2, y3, x0, x1) \
	VHADDPS      y1, y0, y0 \
	VHADDPS      y3, y2, y2 \
	VHADDPS      y2, y0, y0 \
	VEXTRACTF128 $1, y0, x1 \
	VADDPS       x1, x0, x0

// STORE writes what row k of a gave with three rows of b.
#define STORE(k) \
	MOVQ       (strip_dst+8*k)(BX), AX \
	VEXTRACTPS $k, X0, (AX)(R13*1)     \
	VEXTRACTPS $k, X4, 4(AX)(R13*1)    \
	VEXTRACTPS $k, X8, 8(AX)(R13*1)

// func stripAVX2(s *strip)
//
// BX: s. R8-R11: the rows of a, SI, DI, DX: three of b, all advanced by AX bytes up to CX;
// R12: rows of b left; R13: bytes of dst's rows written. Y0-Y11: sums of eight lanes, of
// row i of a and j of b in Y(4*j+i); Y12-Y14: elements of b; Y15: of a. The twelve FMAs of
// the loop keep both multipliers busy for six cycles, in which its seven loads fit.
TEXT ·stripAVX2(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), BX
	MOVQ strip_a(BX), R8
	MOVQ (strip_a+8)(BX), R9
	MOVQ (strip_a+16)(BX), R10
	MOVQ (strip_a+24)(BX), R11
	MOVQ strip_b(BX), SI
	MOVQ strip_n(BX), CX
	SHLQ $2, CX
	MOVQ strip_rows(BX), R12
	XORL R13, R13

rows:
	MOVQ   strip_stride(BX), AX
	LEAQ   (SI)(AX*4), DI
	LEAQ   (DI)(AX*4), DX
	XORL   AX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

loop:
	VMOVUPS     (SI)(AX*1), Y12
	VMOVUPS     (DI)(AX*1), Y13
	VMOVUPS     (DX)(AX*1), Y14
	VMOVUPS     (R8)(AX*1), Y15
	VFMADD231PS Y12, Y15, Y0
	VFMADD231PS Y13, Y15, Y4
	VFMADD231PS Y14, Y15, Y8
	VMOVUPS     (R9)(AX*1), Y15
	VFMADD231PS Y12, Y15, Y1
	VFMADD231PS Y13, Y15, Y5
	VFMADD231PS Y14, Y15, Y9
	VMOVUPS     (R10)(AX*1), Y15
	VFMADD231PS Y12, Y15, Y2
	VFMADD231PS Y13, Y15, Y6
	VFMADD231PS Y14, Y15, Y10
	VMOVUPS     (R11)(AX*1), Y15
	VFMADD231PS Y12, Y15, Y3
	VFMADD231PS Y13, Y15, Y7
	VFMADD231PS Y14, Y15, Y11
	ADDQ        $32, AX
	CMPQ        AX, CX
	JLT         loop

	SUMS(Y0, Y1, Y2, Y3, X0, X1)
	SUMS(Y4, Y5, Y6, Y7, X4, X5)
	SUMS(Y8, Y9, Y10, Y11, X8, X9)
	STORE(0)
	STORE(1)
	STORE(2)
	STORE(3)
	MOVQ strip_stride(BX), AX
	LEAQ (DX)(AX*4), SI
	ADDQ $12, R13
	SUBQ $3, R12
	JNZ  rows

	VZEROUPPER
	RET
