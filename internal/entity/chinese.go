package entity

import "strings"

// surnames are the Chinese surnames that most people have, without those that are everyday words.
const surnames = "王李张刘陈杨赵黄周吴徐孙胡朱郭何罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁沈任姚卢傅钟崔谭廖范汪陆" +
	"姜贾韦邱侯熊孟秦薛阎邹尹郝孔邵龚"

const chineseTitles = "先生 女士 老师 教授 医生 经理 博士 同学 小姐"

// neverLast are verbs that a name does not end with.
const neverLast = "在住搬叫问写做买负告打"

// chinese returns how many characters the name of a person has that begins at i, 0 if none does.
// A surname begins one, and what stands around it must say that it is somebody's.
func (s *scanned) chinese(i int) int {
	if among(s.key(i, i+1), "小 老 阿") && s.unbroken(i, min(i+2, len(s.words))) && s.mayPrecede(i) &&
		i+2 < len(s.words) && strings.Contains(surnames, s.key(i+1, i+2)) && s.mayFollow(i+2) {
		return 2 // a familiar form
	}
	if !strings.Contains(surnames, s.key(i, i+1)) || i > 0 && !s.mayPrecede(i) {
		return 0
	}
	if i+2 < len(s.words) && s.words[i+2].gap == joined && among(s.key(i+1, i+3), chineseTitles) {
		return 3
	}
	for n := 3; n > 1; n-- {
		end := i + n
		if end > len(s.words) || !s.unbroken(i, end) || n == 3 && strings.Contains(neverLast, s.key(end-1, end)) {
			continue
		}
		if end < len(s.words) && s.words[end].gap == joined && s.mayFollow(end) {
			return n
		}
	}
	return 0
}

// unbroken reports whether the words are Chinese characters without a blank or a grammatical one.
func (s *scanned) unbroken(i, end int) bool {
	for k := i; k < end; k++ {
		w := s.words[k]
		if w.shape&(unspaced|katakana) != unspaced || k > i && (w.gap != joined || w.to-w.from != 3) ||
			strings.Contains("的了和是在就都也与或这那我你他她它们吗呢吧把被不有没要会说去来到从给对", s.key(k, k+1)) {
			return false
		}
	}
	return true
}

// mayPrecede reports whether a name may stand behind what is before character i.
func (s *scanned) mayPrecede(i int) bool {
	if s.words[i].gap > joined {
		return true
	}
	return strings.Contains("和跟与同叫给对让请问见由姐妹哥弟友事板理师生友长人子儿妈爸的", s.key(i-1, i))
}

// mayFollow reports whether what is at i stands behind somebody's name.
func (s *scanned) mayFollow(i int) bool {
	if strings.Contains("说在是要去来会给把也和跟住搬叫喜想问写做买负告觉建打了", s.key(i, i+1)) {
		return true
	}
	if i+1 == len(s.words) || s.words[i+1].gap != joined {
		return false
	}
	return among(s.key(i, i+2), chineseTitles+" 昨天 今天 明天 上周 下周 现在 已经 将于 参加 认为 决定 发现 "+
		"推荐 提到 请假 带着 担任 接手 接管 领导 的生 的电")
}
