package embedding

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
)

// synonyms is what somebody who knows the languages of the exam knows: for each of its
// pairs, which words mean the same. A word may stand for several, and the last four are
// of Chinese, where a word is any stretch of characters.
const synonyms = `
physician=doctor examined=looked sick=ill toddler=child
purchased=bought inexpensive=cheap automobile=car
blaze=fire destroyed=burned old=ancient storehouse=depot
afraid=scares speaking=talking public=crowds
attorney=lawyer won=succeeded case=trial difficult=tough
rain=poured night=dawn heavily=pause
students=pupils finished=completed homework=assigned
thief=robbed stole=robbed bicycle=bike
flight=plane delayed=late fog=mist
ships=boats harbor=port sunrise=morning
firm=company dismissed=laid workers=employees
prices=expensive food=groceries rose=became
infant=baby wept=cried hunger=starving
married=wedding tiny=small chapel=church
scientists=researchers discovered=found planet=world distant=far
movie=film bored=dull everyone=anybody
repaired=fixed broken=shattered window=pane
soup=broth salty=seasoning much=excess
begin=start meeting=conference noon=midday
teacher=instructor praised=commended effort=tried
recall=forgot password=unlocks
river=stream overflowed=flooded banks=shores
wolves=predators hunt=chase deer=prey winter=cold
king=monarch died=late heir=offspring
shop=store closes=shut sundays=weekend
soldier=fighter wounded=hurt battle=combat
engine=motor strange=odd noise=sound
children=kids love=adore sweet=sugary desserts=treats
jury=court guilty=convicted him=defendant
neighbor=door cultivates=grows roses=flowers
bridge=cross unsafe=heavy trucks=lorries
team=they lost=beaten match=game
turn=switch lights=lamp bed=sleep
painting=artwork sold=paid millions=fortune
quit=gave smoking=cigarettes ago=before
surgeon=operation removed=took tumor=cancerous
dog=hound barked=growls strangers=unknown
voters=citizens elected=chose female=woman mayor=lead
software=program crashed=stopped twice=again
desert=arid receives=gets water=wet
metzger=fleischer verkauft=gibt wurst=salami
zug=bahn spät=unpünktlich
wohnt=zuhause dorf=land
kuchen=gebäck verbrannt=schwarz
spielt=übt jahren=lange geige=violine
herbst=oktober färben=bunt blätter=laub
lit=dévore roman=livres
facteur=poste apporte=arrive lettre=courrier
enfants=petits peur=tremblent noir=lumière
cherche=veut appartement=loger paris=capitale
visité=vu musées=expositions
abuela=anciana cose=aguja vestidos=ropa
ganó=premiado lotería=billete rico=fortuna
café=bebida caliente=quema
montaña=cumbre cubierta=blanca nieve=invierno
vecino=lado canta=desafina mal=mucho
昨晚=前一夜 他=这人 睡=深更
春季=三月份 公园=植物 花=绽放
妈妈=母亲 做饭=炒菜
数学=算术 考试=测验 难=容易
`

// scholar is a model that knows what the first pairs of the exam need, and of everything
// else how it is spelt.
func scholar(pairs int) func(text string) []float32 {
	meanings := make(map[string][]string)
	for line := range strings.Lines(synonyms) {
		groups := strings.Fields(line)
		if len(groups) == 0 {
			continue
		}
		if pairs--; pairs < 0 {
			break
		}
		for _, group := range groups {
			for word := range strings.SplitSeq(group, "=") {
				meanings[word] = append(meanings[word], group)
			}
		}
	}
	return func(text string) []float32 {
		v := make([]float32, 256)
		for _, r := range text {
			point(v, string(r), 0.05)
		}
		spoken := " " + strings.ToLower(strings.TrimRight(text, ".。")) + " "
		for word, means := range meanings {
			if strings.Contains(spoken, " "+word+" ") || spaceless([]rune(word)[0]) && strings.Contains(spoken, word) {
				for _, m := range means {
					point(v, m, 1)
				}
			}
		}
		return v
	}
}

// point moves a vector in the direction of a meaning.
func point(v []float32, meaning string, far float64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(meaning))
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	for i := range v {
		v[i] += float32(far * random.NormFloat64() / 16) // of length far
	}
}

// Who knows the words of the exam passes it, by as much as he knows of them: what stands
// in for trained models of other languages and sizes.
func TestScholarsAreTrustedByWhatTheyKnow(t *testing.T) {
	for _, c := range []struct {
		pairs           int
		least, most     float64 // of the score
		trusted, little bool    // fully, or less than that
	}{
		{60, 0.97, 1, true, false},
		{40, 0.62, 0.72, true, false}, // English alone
		{20, 0.30, 0.40, false, true},
		{6, 0.08, 0.14, false, false},
		{0, 0, 0.05, false, false},
	} {
		g := grade(t, client(t, serve(t, answers{}, scholar(c.pairs))))
		if g.Score < c.least || g.Score > c.most {
			t.Errorf("who knows %d of 60 pairs has the score %.3f; want %g to %g", c.pairs, g.Score, c.least, c.most)
		}
		trust := g.Trust()
		if (trust == 1) != c.trusted || (trust > 0 && trust < 1) != c.little {
			t.Errorf("who knows %d of 60 pairs is trusted by %.3f", c.pairs, trust)
		}
		t.Logf("%d pairs: %+v, trust %.2f", c.pairs, g, trust)
	}
}
