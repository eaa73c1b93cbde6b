//go:build !purego

#include "textflag.h"

// Instructions that Go's assembler has no name for, as in dot_arm64.s.
#define FADD4S(m, n, d)  WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FSUB4S(m, n, d)  WORD $(0x4ea0d400 | (m)<<16 | (n)<<5 | (d))
#define FMUL4S(m, n, d)  WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))
#define FDIV4S(m, n, d)  WORD $(0x6e20fc00 | (m)<<16 | (n)<<5 | (d))
#define FMAX4S(m, n, d)  WORD $(0x4e20f400 | (m)<<16 | (n)<<5 | (d))
#define FMIN4S(m, n, d)  WORD $(0x4ea0f400 | (m)<<16 | (n)<<5 | (d))
#define FADDP4S(m, n, d) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))
#define FADDP2S(n, d)    WORD $(0x7e30d800 | (n)<<5 | (d))
#define FMAXV4S(n, d)    WORD $(0x6e30f800 | (n)<<5 | (d))
#define FRINTN4S(n, d)   WORD $(0x4e218800 | (n)<<5 | (d))
#define FCVTNS4S(n, d)   WORD $(0x4e21a800 | (n)<<5 | (d))

// V16-V29: the table of coefficients, in its order, of which each has two registers' width.
#define COEFFICIENTS(table) \
	MOVD   $32, R4                \
	VLD1.P (table)(R4), [V16.S4]  \
	VLD1.P (table)(R4), [V17.S4]  \
	VLD1.P (table)(R4), [V18.S4]  \
	VLD1.P (table)(R4), [V19.S4]  \
	VLD1.P (table)(R4), [V20.S4]  \
	VLD1.P (table)(R4), [V21.S4]  \
	VLD1.P (table)(R4), [V22.S4]  \
	VLD1.P (table)(R4), [V23.S4]  \
	VLD1.P (table)(R4), [V24.S4]  \
	VLD1.P (table)(R4), [V25.S4]  \
	VLD1.P (table)(R4), [V26.S4]  \
	VLD1.P (table)(R4), [V27.S4]  \
	VLD1.P (table)(R4), [V28.S4]  \
	VLD1   (table), [V29.S4]

// EXP is exp of curves.go for four lanes of V0, with V1 for n and V2 and V3 for the sums of
// the polynomial. The larger or smaller of two is a NaN where one is.
#define EXP \
	FMAX4S(16, 0, 0)              \
	FMIN4S(17, 0, 0)              \
	FMUL4S(18, 0, 1)              \
	FRINTN4S(1, 1)                \
	VFMLS V19.S4, V1.S4, V0.S4    \
	VFMLS V20.S4, V1.S4, V0.S4    \
	FCVTNS4S(1, 1)                \
	VSHL  $23, V1.S4, V1.S4       \
	VMOV  V22.B16, V2.B16         \
	VFMLA V21.S4, V0.S4, V2.S4    \
	VMOV  V23.B16, V3.B16         \
	VFMLA V2.S4, V0.S4, V3.S4     \
	VMOV  V24.B16, V2.B16         \
	VFMLA V3.S4, V0.S4, V2.S4     \
	VMOV  V25.B16, V3.B16         \
	VFMLA V2.S4, V0.S4, V3.S4     \
	VMOV  V26.B16, V2.B16         \
	VFMLA V3.S4, V0.S4, V2.S4     \
	FMUL4S(0, 0, 3)               \
	VFMLA V3.S4, V2.S4, V0.S4     \
	FADD4S(27, 0, 0)              \
	VADD  V1.S4, V0.S4, V0.S4

// func softmaxNEON(x []float32, c *table)
//
// R0: x; R1: its elements, a multiple of 4 and not 0; R2: elements left; R3: where of x.
// V4: the largest element, in all lanes; V5: sums of four lanes, then one over all.
TEXT ·softmaxNEON(SB), NOSPLIT, $0-32
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R1
	MOVD c+24(FP), R5
	COEFFICIENTS(R5)
	VLD1 (R0), [V4.S4]
	MOVD R0, R3
	MOVD R1, R2

largest:
	VLD1.P 16(R3), [V0.S4]
	FMAX4S(0, 4, 4)
	SUBS   $4, R2
	BNE    largest

	FMAXV4S(4, 4)
	VDUP V4.S[0], V4.S4
	VEOR V5.B16, V5.B16, V5.B16
	MOVD R0, R3
	MOVD R1, R2

exponentials:
	VLD1   (R3), [V0.S4]
	FSUB4S(4, 0, 0)
	EXP
	VST1.P [V0.S4], 16(R3)
	FADD4S(0, 5, 5)
	SUBS   $4, R2
	BNE    exponentials

	FADDP4S(5, 5, 5)
	FADDP2S(5, 5)
	FDIVS F5, F27, F5
	VDUP  V5.S[0], V5.S4
	MOVD  R0, R3
	MOVD  R1, R2

shares:
	VLD1   (R3), [V0.S4]
	FMUL4S(5, 0, 0)
	VST1.P [V0.S4], 16(R3)
	SUBS   $4, R2
	BNE    shares
	RET

// func geluNEON(x []float32, c *table)
//
// R0: x; R1: elements left, a multiple of 4. V4: x; V6: -2u/x.
TEXT ·geluNEON(SB), NOSPLIT, $0-32
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R1
	MOVD c+24(FP), R5
	CBZ  R1, done
	COEFFICIENTS(R5)

loop:
	VLD1   (R0), [V4.S4]
	FMUL4S(4, 4, 0)
	VMOV   V28.B16, V6.B16
	VFMLA  V29.S4, V0.S4, V6.S4
	FMUL4S(6, 4, 0)
	EXP
	FADD4S(27, 0, 0)
	FDIV4S(0, 4, 4)
	VST1.P [V4.S4], 16(R0)
	SUBS   $4, R1
	BNE    loop

done:
	RET
