//go:build !purego

#include "textflag.h"

// Offsets in the table of coefficients, which R8 points to.
#define LOWEST  0
#define HIGHEST 32
#define LOG2E   64
#define LN2HIGH 96
#define LN2LOW  128
#define P0      160
#define P1      192
#define P2      224
#define P3      256
#define P4      288
#define P5      320
#define ONE     352
#define LINEAR  384
#define CUBIC   416

// EXP is exp of curves.go for eight lanes of Y0, with Y1-Y3 for n, p and r^2. Where one
// operand is a NaN, VMAXPS and VMINPS return the one that is written first here.
#define EXP \
	VMAXPS       Y0, Y14, Y0           \
	VMINPS       Y0, Y15, Y0           \
	VMULPS       LOG2E(R8), Y0, Y1     \
	VROUNDPS     $8, Y1, Y1            \
	VFNMADD231PS LN2HIGH(R8), Y1, Y0   \
	VFNMADD231PS LN2LOW(R8), Y1, Y0    \
	VCVTPS2DQ    Y1, Y1                \
	VPSLLD       $23, Y1, Y1           \
	VMOVUPS      P0(R8), Y2            \
	VFMADD213PS  P1(R8), Y0, Y2        \
	VFMADD213PS  P2(R8), Y0, Y2        \
	VFMADD213PS  P3(R8), Y0, Y2        \
	VFMADD213PS  P4(R8), Y0, Y2        \
	VFMADD213PS  P5(R8), Y0, Y2        \
	VMULPS       Y0, Y0, Y3            \
	VFMADD213PS  Y0, Y3, Y2            \
	VADDPS       Y13, Y2, Y2           \
	VPADDD       Y1, Y2, Y0

// Y13-Y15: what EXP takes from registers.
#define EXPCONSTANTS \
	VMOVUPS ONE(R8), Y13    \
	VMOVUPS LOWEST(R8), Y14 \
	VMOVUPS HIGHEST(R8), Y15

// func softmaxAVX2(x []float32, c *table)
//
// DI: x; CX: its length in bytes, a multiple of 32 and not 0; AX: bytes done. Y4: the
// largest element, in all lanes; Y5: sums of eight lanes, then one over all.
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-32
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), CX
	SHLQ $2, CX
	MOVQ c+24(FP), R8
	EXPCONSTANTS
	VMOVUPS (DI), Y4
	XORL    AX, AX

largest:
	VMAXPS (DI)(AX*1), Y4, Y4
	ADDQ   $32, AX
	CMPQ   AX, CX
	JLT    largest

	VEXTRACTF128 $1, Y4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0x4e, X4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0xb1, X4, X5
	VMAXPS       X5, X4, X4
	VBROADCASTSS X4, Y4
	VXORPS       Y5, Y5, Y5
	XORL         AX, AX

exponentials:
	VMOVUPS (DI)(AX*1), Y0
	VSUBPS  Y4, Y0, Y0
	EXP
	VMOVUPS Y0, (DI)(AX*1)
	VADDPS  Y0, Y5, Y5
	ADDQ    $32, AX
	CMPQ    AX, CX
	JLT     exponentials

	VEXTRACTF128 $1, Y5, X0
	VADDPS       X0, X5, X5
	VHADDPS      X5, X5, X5
	VHADDPS      X5, X5, X5
	VDIVSS       X5, X13, X5
	VBROADCASTSS X5, Y5
	XORL         AX, AX

shares:
	VMULPS  (DI)(AX*1), Y5, Y0
	VMOVUPS Y0, (DI)(AX*1)
	ADDQ    $32, AX
	CMPQ    AX, CX
	JLT     shares

	VZEROUPPER
	RET

// func geluAVX2(x []float32, c *table)
//
// DI: x; CX: elements left, a multiple of 8. Y4: x; Y5, Y6: the two factors of -2u.
TEXT ·geluAVX2(SB), NOSPLIT, $0-32
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), CX
	MOVQ c+24(FP), R8
	EXPCONSTANTS
	VMOVUPS LINEAR(R8), Y5
	VMOVUPS CUBIC(R8), Y6

loop:
	SUBQ        $8, CX
	JLT         done
	VMOVUPS     (DI), Y4
	VMULPS      Y4, Y4, Y0
	VFMADD213PS Y5, Y6, Y0
	VMULPS      Y4, Y0, Y0
	EXP
	VADDPS      Y13, Y0, Y0
	VDIVPS      Y0, Y4, Y4
	VMOVUPS     Y4, (DI)
	ADDQ        $32, DI
	JMP         loop

done:
	VZEROUPPER
	RET
