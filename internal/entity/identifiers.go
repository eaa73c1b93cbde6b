package entity

import (
	"strings"
	"unicode"
)

// chineseLabels are what lists/labels.txt has, in Chinese.
const chineseLabels = "算法 类 对象 组件 函数 方法 接口 错误 异常 资源 选项 字段 参数 按钮 格式 索引 属性 菜单 命令 注解 标签 事件 变量 类型"

// startsWithAny reports whether a text begins, after a blank at most, with one of the words of a list.
func startsWithAny(s, words string) bool {
	s = strings.TrimPrefix(s, " ")
	for one := range strings.FieldsSeq(words) {
		if strings.HasPrefix(s, one) {
			return true
		}
	}
	return false
}

// heads are the last words of the names of classes and the like.
const heads = "error exception warning fault handler controller factory builder adapter wrapper listener observer " +
	"iterator serializer parser loader reader writer client server request response session context config options " +
	"settings params props event message model schema entity repository component widget view input container " +
	"element list map set array string object value key index id name path data info state status result rule " +
	"query filter callback middleware router endpoint class interface service provider manager type spec impl " +
	"util utils helper mixin validator resolver selector strategy visitor worker"

// isIdentifier reports CamelCase that names a class, a type or an error of a program rather than a product: it
// ends as those do, or what stands beside it says so.
func (s *scanned) isIdentifier(i int) bool {
	return s.endsAsType(i) || s.words[i].shape&camel != 0 && !s.isListed(i, i+1) && s.isPartOfProgram(i, i+1)
}

// endsAsType reports CamelCase such as StreamHandler.
func (s *scanned) endsAsType(i int) bool {
	if s.words[i].shape&camel == 0 || s.isListed(i, i+1) {
		return false
	}
	word := s.text[s.words[i].start:s.words[i].end]
	return among(strings.ToLower(word[lastHump(word):]), heads)
}

// isListed reports whether the lists have the words as a name.
func (s *scanned) isListed(i, end int) bool {
	e, ok := lists().name(s.key(i, end))
	return ok && e.kind != Topic
}

// isPartOfProgram reports whether the words beside a run say that it is a class, an option, an
// algorithm or the like, or it says in brackets what a Chinese term is in English.
func (s *scanned) isPartOfProgram(i, end int) bool {
	next := end < len(s.words) && s.words[end].gap == space && s.words[end].shape&capital == 0
	if next && lists().labels.Has(s.key(end, end+1)) || startsWithAny(s.text[s.words[end-1].end:], chineseLabels) ||
		end < len(s.words) && s.words[end].gap == space && s.endsAsType(end) {
		return true
	}
	if i == 0 {
		return false
	}
	before := s.words[i-1]
	if s.words[i].gap == space {
		return before.shape&capital == 0 && among(s.key(i-1, i), "class exception error function method component "+
			"interface struct enum option setting flag parameter klasse ausnahme fehler funktion methode komponente")
	}
	return before.shape&unspaced != 0 && among(strings.TrimSpace(s.text[before.end:s.words[i].start]), "（ (")
}

// lastHump returns where the last part of CamelCase begins, 0 if it has one.
func lastHump(s string) (at int) {
	before := rune(0)
	for i, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			at = i
		}
		before = r
	}
	return at
}
