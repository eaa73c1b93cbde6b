//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// SUMS makes the sums of the lanes of four registers the four floats at offset(R15).
#define SUMS(y0, y1, y2, y3, x0, x1, offset) \
	VHADDPS      y1, y0, y0   \
	VHADDPS      y3, y2, y2   \
	VHADDPS      y2, y0, y0   \
	VEXTRACTF128 $1, y0, x1   \
	VADDPS       x1, x0, x0   \
	VMOVUPS      x0, offset(R15)

// func tileAVX2(t *tile, n int)
//
// R8-R11: the rows of a, SI, DI, DX: those of b, all advanced by AX bytes up to CX; R15:
// t.out. Y0-Y11: sums of eight lanes, of row i of a and j of b in Y(4*j+i); Y12-Y14:
// elements of b; Y15: of a. Twelve FMAs take six cycles, and seven loads fewer.
TEXT ·tileAVX2(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), R15
	MOVQ n+8(FP), CX
	SHLQ $2, CX
	MOVQ tile_a(R15), R8
	MOVQ (tile_a+24)(R15), R9
	MOVQ (tile_a+48)(R15), R10
	MOVQ (tile_a+72)(R15), R11
	MOVQ tile_b(R15), SI
	MOVQ (tile_b+24)(R15), DI
	MOVQ (tile_b+48)(R15), DX
	ADDQ $tile_out, R15
	XORL AX, AX

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

	SUMS(Y0, Y1, Y2, Y3, X0, X1, 0)
	SUMS(Y4, Y5, Y6, Y7, X4, X5, 16)
	SUMS(Y8, Y9, Y10, Y11, X8, X9, 32)
	VZEROUPPER
	RET
