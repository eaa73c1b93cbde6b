//go:build !purego

#include "textflag.h"

// Instructions that Go's assembler has no name for, as in dot_arm64.s: halves to floats,
// the low or the high eight bytes or four words to twice their size, integers to floats,
// and the product of floats.
#define FCVTL(n, d)     WORD $(0x0e217800 | (n)<<5 | (d))
#define FCVTL2(n, d)    WORD $(0x4e217800 | (n)<<5 | (d))
#define SXTLB(n, d)     WORD $(0x0f08a400 | (n)<<5 | (d))
#define SXTLB2(n, d)    WORD $(0x4f08a400 | (n)<<5 | (d))
#define SXTLH(n, d)     WORD $(0x0f10a400 | (n)<<5 | (d))
#define SXTLH2(n, d)    WORD $(0x4f10a400 | (n)<<5 | (d))
#define SCVTF4S(n, d)   WORD $(0x4e21d800 | (n)<<5 | (d))
#define FMUL4S(m, n, d) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))

// func float16NEON(dst []float32, src []byte)
//
// R1: src; R0: dst; R2: elements left, a multiple of 8.
TEXT ·float16NEON(SB), NOSPLIT, $0-48
	MOVD dst_base+0(FP), R0
	MOVD dst_len+8(FP), R2
	MOVD src_base+24(FP), R1
	CBZ  R2, done

loop:
	VLD1.P 16(R1), [V0.H8]
	FCVTL(0, 1)
	FCVTL2(0, 2)
	VST1.P [V1.S4, V2.S4], 32(R0)
	SUBS   $8, R2
	BGT    loop

done:
	RET

// func q8NEON(dst []float32, src []byte)
//
// R1: src; R0: dst; R2: elements left, a multiple of 32. V0: the scale in all lanes; V1
// and V2: the bytes of a block; V4-V7: half of them as words; V16-V23: as floats.
TEXT ·q8NEON(SB), NOSPLIT, $0-48
	MOVD dst_base+0(FP), R0
	MOVD dst_len+8(FP), R2
	MOVD src_base+24(FP), R1
	CBZ  R2, done

loop:
	VLD1R.P 2(R1), [V0.H8]
	FCVTL(0, 0)
	VLD1.P 32(R1), [V1.B16, V2.B16]
	SXTLB(1, 4)
	SXTLB2(1, 5)
	SXTLB(2, 6)
	SXTLB2(2, 7)
	SXTLH(4, 16)
	SXTLH2(4, 17)
	SXTLH(5, 18)
	SXTLH2(5, 19)
	SXTLH(6, 20)
	SXTLH2(6, 21)
	SXTLH(7, 22)
	SXTLH2(7, 23)
	SCVTF4S(16, 16)
	SCVTF4S(17, 17)
	SCVTF4S(18, 18)
	SCVTF4S(19, 19)
	SCVTF4S(20, 20)
	SCVTF4S(21, 21)
	SCVTF4S(22, 22)
	SCVTF4S(23, 23)
	FMUL4S(0, 16, 16)
	FMUL4S(0, 17, 17)
	FMUL4S(0, 18, 18)
	FMUL4S(0, 19, 19)
	FMUL4S(0, 20, 20)
	FMUL4S(0, 21, 21)
	FMUL4S(0, 22, 22)
	FMUL4S(0, 23, 23)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	SUBS   $32, R2
	BGT    loop

done:
	RET
