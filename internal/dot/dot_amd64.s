//go:build !purego

#include "textflag.h"

// func float32AVX2(a, b []float32) float32
//
// SI, DI: a, b; CX: elements left. Y0-Y3: four sums of eight lanes, because two FMAs can
// begin in each cycle and each takes four or five; Y4-Y7: elements of a.
TEXT ·float32AVX2(SB), NOSPLIT, $0-52
	MOVQ   a_base+0(FP), SI
	MOVQ   a_len+8(FP), CX
	MOVQ   b_base+24(FP), DI
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ   $32, CX
	JLT    eights

loop32:
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VMOVUPS     64(SI), Y6
	VMOVUPS     96(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ        $128, SI
	ADDQ        $128, DI
	SUBQ        $32, CX
	JGE         loop32

eights:
	ADDQ $24, CX
	JLT  lanes

loop8:
	VMOVUPS     (SI), Y4
	VFMADD231PS (DI), Y4, Y0
	ADDQ        $32, SI
	ADDQ        $32, DI
	SUBQ        $8, CX
	JGE         loop8

lanes:
	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	ADDQ         $8, CX
	JZ           done

loop1:
	VMOVSS      (SI), X4
	VFMADD231SS (DI), X4, X0
	ADDQ        $4, SI
	ADDQ        $4, DI
	DECQ        CX
	JNZ         loop1

done:
	VZEROUPPER
	MOVSS X0, ret+48(FP)
	RET

// func int8AVX2(a, b []int8) int32
//
// SI, DI: a, b; CX: elements left; AX: what is left over from the vectors. Elements are
// widened to 16 bits, where VPMADDWD adds two products (at most 2^15) into 32 bits: its
// 8-bit cousin takes unsigned by signed and saturates. Y0-Y3: four sums of eight lanes;
// lanes wrap around as the result does, so it is exact whenever it fits.
TEXT ·int8AVX2(SB), NOSPLIT, $0-52
	MOVQ  a_base+0(FP), SI
	MOVQ  a_len+8(FP), CX
	MOVQ  b_base+24(FP), DI
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	SUBQ  $64, CX
	JLT   sixteens

loop64:
	VPMOVSXBW (SI), Y4
	VPMOVSXBW (DI), Y5
	VPMOVSXBW 16(SI), Y6
	VPMOVSXBW 16(DI), Y7
	VPMOVSXBW 32(SI), Y8
	VPMOVSXBW 32(DI), Y9
	VPMOVSXBW 48(SI), Y10
	VPMOVSXBW 48(DI), Y11
	VPMADDWD  Y5, Y4, Y4
	VPMADDWD  Y7, Y6, Y6
	VPMADDWD  Y9, Y8, Y8
	VPMADDWD  Y11, Y10, Y10
	VPADDD    Y4, Y0, Y0
	VPADDD    Y6, Y1, Y1
	VPADDD    Y8, Y2, Y2
	VPADDD    Y10, Y3, Y3
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $64, CX
	JGE       loop64

sixteens:
	ADDQ $48, CX
	JLT  lanes

loop16:
	VPMOVSXBW (SI), Y4
	VPMOVSXBW (DI), Y5
	VPMADDWD  Y5, Y4, Y4
	VPADDD    Y4, Y0, Y0
	ADDQ      $16, SI
	ADDQ      $16, DI
	SUBQ      $16, CX
	JGE       loop16

lanes:
	VPADDD       Y1, Y0, Y0
	VPADDD       Y3, Y2, Y2
	VPADDD       Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, AX
	ADDQ         $16, CX
	JZ           done

loop1:
	MOVBLSX (SI), R8
	MOVBLSX (DI), R9
	IMULL   R9, R8
	ADDL    R8, AX
	INCQ    SI
	INCQ    DI
	DECQ    CX
	JNZ     loop1

done:
	VZEROUPPER
	MOVL AX, ret+48(FP)
	RET
