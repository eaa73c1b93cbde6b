//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// The sums of neighbours in n, then of those in m.
#define FADDP4S(m, n, d) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))

// Three floats, of which each is lane k of one of V0-V2, to where R(11+k) points, which
// then points behind them: ST3 of a single structure.
#define STORE0 WORD $0x0d9fa160
#define STORE1 WORD $0x0d9fb180
#define STORE2 WORD $0x4d9fa1a0
#define STORE3 WORD $0x4d9fb1c0

// func stripNEON(s *strip)
//
// R3: s. R4-R7: the rows of a, R8-R10: three of b, R11-R14: the rows of dst; R0: rows of b
// left; R1: elements of a row; R2: elements left; R15: bytes from a row of b to the next;
// R16: where the next three begin. V0-V11: sums of four lanes, of row i
// of a and j of b in V(4*j+i); V16-V21: eight elements of three rows of b; V24-V25: of a.
TEXT ·stripNEON(SB), NOSPLIT, $0-8
	MOVD s+0(FP), R3
	MOVD strip_dst(R3), R11
	MOVD (strip_dst+8)(R3), R12
	MOVD (strip_dst+16)(R3), R13
	MOVD (strip_dst+24)(R3), R14
	MOVD strip_b(R3), R8
	MOVD strip_rows(R3), R0
	MOVD strip_n(R3), R1
	MOVD strip_stride(R3), R15
	LSL  $2, R15

rows:
	MOVD strip_a(R3), R4
	MOVD (strip_a+8)(R3), R5
	MOVD (strip_a+16)(R3), R6
	MOVD (strip_a+24)(R3), R7
	ADD  R15, R8, R9
	ADD  R15, R9, R10
	ADD  R15, R10, R16
	MOVD R1, R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

loop:
	VLD1.P 32(R8), [V16.S4, V17.S4]
	VLD1.P 32(R9), [V18.S4, V19.S4]
	VLD1.P 32(R10), [V20.S4, V21.S4]
	VLD1.P 32(R4), [V24.S4, V25.S4]
	VFMLA  V16.S4, V24.S4, V0.S4
	VFMLA  V18.S4, V24.S4, V4.S4
	VFMLA  V20.S4, V24.S4, V8.S4
	VFMLA  V17.S4, V25.S4, V0.S4
	VFMLA  V19.S4, V25.S4, V4.S4
	VFMLA  V21.S4, V25.S4, V8.S4
	VLD1.P 32(R5), [V24.S4, V25.S4]
	VFMLA  V16.S4, V24.S4, V1.S4
	VFMLA  V18.S4, V24.S4, V5.S4
	VFMLA  V20.S4, V24.S4, V9.S4
	VFMLA  V17.S4, V25.S4, V1.S4
	VFMLA  V19.S4, V25.S4, V5.S4
	VFMLA  V21.S4, V25.S4, V9.S4
	VLD1.P 32(R6), [V24.S4, V25.S4]
	VFMLA  V16.S4, V24.S4, V2.S4
	VFMLA  V18.S4, V24.S4, V6.S4
	VFMLA  V20.S4, V24.S4, V10.S4
	VFMLA  V17.S4, V25.S4, V2.S4
	VFMLA  V19.S4, V25.S4, V6.S4
	VFMLA  V21.S4, V25.S4, V10.S4
	VLD1.P 32(R7), [V24.S4, V25.S4]
	VFMLA  V16.S4, V24.S4, V3.S4
	VFMLA  V18.S4, V24.S4, V7.S4
	VFMLA  V20.S4, V24.S4, V11.S4
	VFMLA  V17.S4, V25.S4, V3.S4
	VFMLA  V19.S4, V25.S4, V7.S4
	VFMLA  V21.S4, V25.S4, V11.S4
	SUBS   $8, R2
	BGT    loop

	FADDP4S(1, 0, 0)
	FADDP4S(3, 2, 2)
	FADDP4S(2, 0, 0)
	FADDP4S(5, 4, 4)
	FADDP4S(7, 6, 6)
	FADDP4S(6, 4, 1)
	FADDP4S(9, 8, 8)
	FADDP4S(11, 10, 10)
	FADDP4S(10, 8, 2)
	STORE0
	STORE1
	STORE2
	STORE3
	MOVD R16, R8
	SUBS $3, R0
	BNE  rows
	RET
