//go:build !purego

#include "textflag.h"

// Instructions that Go's assembler has no name for; operands are numbers of vector
// registers, the destination last, as it would have them.
#define FADD4S(m, n, d)  WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FADDP4S(m, n, d) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))
#define FADDP2S(n, d)    WORD $(0x7e30d800 | (n)<<5 | (d))
#define SMULL(m, n, d)   WORD $(0x0e20c000 | (m)<<16 | (n)<<5 | (d))
#define SMULL2(m, n, d)  WORD $(0x4e20c000 | (m)<<16 | (n)<<5 | (d))
#define SADALP(n, d)     WORD $(0x4e606800 | (n)<<5 | (d))

// func float32NEON(a, b []float32) float32
//
// R0, R1: a, b; R2: elements left. V0-V3: four sums of four lanes, so that an FMA need
// not wait for the one before it; V4-V7, V16-V19: elements of a and b.
TEXT ·float32NEON(SB), NOSPLIT, $0-52
	MOVD a_base+0(FP), R0
	MOVD a_len+8(FP), R2
	MOVD b_base+24(FP), R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	SUBS $16, R2
	BLT  fours

loop16:
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VFMLA  V16.S4, V4.S4, V0.S4
	VFMLA  V17.S4, V5.S4, V1.S4
	VFMLA  V18.S4, V6.S4, V2.S4
	VFMLA  V19.S4, V7.S4, V3.S4
	SUBS   $16, R2
	BGE    loop16

fours:
	ADDS $12, R2
	BLT  lanes

loop4:
	VLD1.P 16(R0), [V4.S4]
	VLD1.P 16(R1), [V16.S4]
	VFMLA  V16.S4, V4.S4, V0.S4
	SUBS   $4, R2
	BGE    loop4

lanes:
	FADD4S(1, 0, 0)
	FADD4S(3, 2, 2)
	FADD4S(2, 0, 0)
	FADDP4S(0, 0, 0)
	FADDP2S(0, 0)
	ADDS $4, R2
	BEQ  done

loop1:
	FMOVS.P 4(R0), F4
	FMOVS.P 4(R1), F5
	FMADDS  F5, F0, F4, F0
	SUBS    $1, R2
	BNE     loop1

done:
	FMOVS F0, ret+48(FP)
	RET

// func int8NEON(a, b []int8) int32
//
// R0, R1: a, b; R2: elements left; R3: what is left over from the vectors. Products are
// made in 16 bits and at once added in pairs to 32, because the sum of two (2^15) may be
// too much for 16. V0-V3: four sums of four lanes; lanes wrap around as the result does,
// so it is exact whenever it fits.
TEXT ·int8NEON(SB), NOSPLIT, $0-52
	MOVD a_base+0(FP), R0
	MOVD a_len+8(FP), R2
	MOVD b_base+24(FP), R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	SUBS $32, R2
	BLT  sixteens

loop32:
	VLD1.P 32(R0), [V4.B16, V5.B16]
	VLD1.P 32(R1), [V6.B16, V7.B16]
	SMULL(6, 4, 16)
	SMULL2(6, 4, 17)
	SMULL(7, 5, 18)
	SMULL2(7, 5, 19)
	SADALP(16, 0)
	SADALP(17, 1)
	SADALP(18, 2)
	SADALP(19, 3)
	SUBS   $32, R2
	BGE    loop32

sixteens:
	ADDS $16, R2
	BLT  lanes
	VLD1.P 16(R0), [V4.B16]
	VLD1.P 16(R1), [V6.B16]
	SMULL(6, 4, 16)
	SMULL2(6, 4, 17)
	SADALP(16, 0)
	SADALP(17, 1)
	SUB  $16, R2

lanes:
	VADD  V1.S4, V0.S4, V0.S4
	VADD  V3.S4, V2.S4, V2.S4
	VADD  V2.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	VMOV  V0.S[0], R3
	ADDS  $16, R2
	BEQ   done

loop1:
	MOVB.P 1(R0), R4
	MOVB.P 1(R1), R5
	MADDW  R5, R3, R4, R3
	SUBS   $1, R2
	BNE    loop1

done:
	MOVW R3, ret+48(FP)
	RET
