package rekindle

import "strings"

// A list has words. None is changed after it was made.
type list map[string]struct{}

// listed makes a list of words with space between them.
func listed(words string) list {
	l := make(list, len(words)/6)
	for w := range strings.FieldsSeq(words) {
		l[w] = struct{}{}
	}
	return l
}

// has reports whether a list has a word.
func (l list) has(word string) bool {
	_, ok := l[word]
	return ok
}

// abbreviations are written with a full stop that does not end a sentence, since
// something follows them: titles, references, units. English, German, French,
// Spanish, Italian, Dutch.
var abbreviations = listed(`
adm al approx ave blvd brig bros ca capt cdr cf cfr chap cmdr col comdr cpt dept dr ed eds eg esp est exp feb fr ft gen gov
hon ibid ie incl jan jul jun lt maj messrs misc mr mrs ms msgr mt mts oct pres prof pt ref refs rep rev sen sep sept sgt sr st
ste tel temp univ viz vs
abb abs abt allg anm aufl ausg bspw bzgl bzw dipl evtl frl geb ggf ggfs hr hrn hrsg inkl insb jh kap mio mrd nr str std
tägl ungef vgl vllt zzgl
av boul mgr mlle mlles mme mmes qqch qqn suiv
admón atte avda dña drª excmo gral ilmo lic pág págs prov sra sras srta
avv dott dssa ecc egr gent sigg spett
bijv blz dhr drs hfst jl mej mevr nl resp
`)

// counted are abbreviations before a number, and ordinary words or names before
// anything else.
var counted = listed(`apr art aug bd ch col ex fig figs mar max min no nos nov dec p par pp sec secs sp sq vol vols`)

// closers are abbreviations that often are the last word of a sentence.
var closers = listed(`a.m p.m etc inc ltd co corp jr usw usf u.a o.ä enz dgl`)

// months follow ordinal numbers that are written with a full stop.
var months = listed(`
januar jänner februar feber märz april mai juni juli august september oktober november dezember
jan feb mär apr jun jul aug sep sept okt nov dez januari februari maart mei augustus oktober december januar marts maj
`)

// common are words that say next to nothing about what a text is about: function
// words of some languages, and what people fill English conversations with. Words
// that are telling in another of these languages are left out.
const common = `
a abbiamo aber able about above absolutely across actually after again against ago agree ah ahead ai al all alla alles
almost alone along already als also although always am amazing an anche and another any anybody anymore anyone
anything anyway anywhere ao appreciate are aren't around as ask asked asking at au auch auf aus aussi aux avec avoir
away awesome awful back bad basically be beautiful became because become been before began begin behind bei being
believe below best bet better between bien big bij bis bit bless both bring brings bunch but by bye came can can't
cannot care cause ce certain certainly ces cet cette chance chat che check chi ci clear clearly com come comes coming
comme como completely con congrats congratulations cool could couldn't couple course crazy cual cuando cui curious
cute d da daar dann dans das dass dat day days de deal decide decided deep def definitely dei dein del della delle dem
den der des details deze di dich did didn't difference different dir dit do doch does doesn't doing don't donde done
dont dort dos dove down du due durch during e each early easy een ein eine einem einen einer eines el elle elles else
en end enjoy enjoyed enjoying enough entre er era es esa ese eso especially essa esse essere est esta estar este esto
está están et etwas euch even ever every everybody everyone everything everywhere exactly example excellent excited
exciting faire fait fantastic far fast feel feeling feels felt few figure finally find finding fine first five foi
follow following for forever forget forward found four fra from fue full fun further für gave geen gegen general get
gets getting give given gives giving glad gli go goes going gone gonna good gosh got gotta gotten great guess guy guys
ha haar haben had hadn't haha hai half han hanno happen happened happening happens happy hard has hasn't hatte hatten
have haven't having hay he he'd he'll he's hear heard hebben heeft hell hello help helped helpful helping helps hem
her here here's hers herself het hey hi hier high hij him himself his ho hope hopefully hoping how how's however huge
i i'd i'll i'm i've ich idea if ihm ihn ihnen ihr ik il ils im imagine immer important in incredible indeed info ins
inspire inspired inspiring instead interested interesting into involve is isn't isso ist isto it it'd it'll it's its
its itself je jetzt jij jouw jullie just kan kann keep keeping keeps kein keine kept kind kinda knew know knowing known
knows können l la large las last late lately later le least left les less let let's letting leur life like liked
likely likes little live lo lol long longer look looked looking looks los lot lots love loved lovely loves low luck
lucky lui ma maar made mainly mais make makes making man many mas matter may maybe me mean means meant mehr mein menos
mes met mi mich might mij mijn mind mir mis mit moet molto moment mon month months more morning most mostly move much
muito muss must muy my myself más müssen na naar nach nas ne near nearly necessary need needed needs nel nella never
new news next nice nicht niet night no nobody noch nog non none nope nor nos not note nothing notice notre nous now nu
number nur não o oder of off often oh ohne ok okay old on once onde onder one ones only ons ont onto ook op or os
other others otherwise ou our ours ourselves out over overall own où par para part particular pas past people per
perfect perhaps pero person peut più place please plus point por possible pour pretty probably proud put quando que
quella quello quem questa questo qui quickly quien quite quoi rather ready real realize really reason recent recently
relate remember reminder right sa sad said same sans saw say saying says schon se second see seeing seem seemed seems
seen sehr sein self sem sense ser ses set several shall share shared shares sharing she she'd she'll she's should
shouldn't show showed showing shows si sich sie similar simple simply sin since sind small so sobre soll sollen some
somebody somehow someone something sometimes somewhat somewhere sono sont soon sorry sort sound sounds sous special
start started starting stay still stop stuff su such super support supporting supportive sur sure sus sweet são ta
take taken takes taking talk talked talking también também te tell telling tem ten tend tes than thank thankful thanks
that that'd that'll that's the their theirs them themselves then there there's these they they'd they'll they're
they've thing things think thinking third this those though thought thoughts three through throughout ti time times
tip to today todo todos together told tomorrow ton tonight too took total totally tough tous tout toute toutes toward
towards tra tried true truly try trying très tu turn turned tus two têm uit um uma umas un una unas und under
understand une uno unos uns unser unter until up update upon us use used useful using usual usually van various very
vi via viel view vom von voor vor votre vous wait wanna want wanted wanting wants waren warning was wasn't watch way
ways we we'd we'll we're we've week weeks weil wel well wenn went werden were weren't what what's whatever when when's
where where's whether which while who who's whoever whole whom whose why wie wij will wir wird wish with within
without won won't wonderful wondering worden wordt work worked working works worry worth would wouldn't wow wurde
wurden y ya yay yeah year years yep yes yesterday yet you you'd you'll you're you've your yours yourself yup zij zijn
zu zum zur è était être über а бы был была было быть в вас во вот все вы где да даже для до его ее ей ему если есть
еще же за и из или их к как когда ли меня мне мы на не него нет но ну о он она они от по потом с себя со так там тебя
теперь то только тут ты у уж чем что я あの ある あれ いる から こと この これ さん した して する その それ ため です ない など ます まで もの よう より 一个 一些 不是
什么 今天 他们 但是 你们 可以 因为 她们 如果 它们 就是 已经 怎么 我们 所以 时候 明天 昨天 没有 然后 现在 知道 自己 觉得 还是 这个 这些 这样 那个 那些 非常
`

// colours are words that a sentence says about the same without, and articles those that
// headlines leave out.
var (
	colours = listed(`absolutely actually also always basically certainly completely currently definitely especially extremely honestly
incredibly particularly probably quite really recently simply still totally truly very`)
	articles = listed(`a an the`)
)

// links are words that join a clause to the one before.
var links = listed(`and but or nor because which who that when while where if so as than und oder aber weil dass et ou mais que y o
pero e ma`)

// dangling are words that a part of a sentence does not end with: what they belong
// to comes after them.
var dangling = listed(`a about an and are as at be because been being but by for from had has have he her his i if in into is it its
like my no nor not of on or our over she so than that the their they this those these to was we were when where which while who
will with would you your der die das den dem des ein eine einen einem einer und oder von vom zu zum zur mit im in am auf für
le la les un une des du de et à au aux dans pour sur avec que qui el los las y o en por para con il lo gli i di da e per
`)

// negations turn around what follows them, together with what ends in n't.
var negations = listed(`not no never nor neither none nobody nothing without cannot hardly barely unless except nicht kein keine keinen
keinem keiner nie niemals ohne ne pas jamais sans nunca jamás sin ni non mai senza niet geen nooit não nem sem не нет без никогда
不 没 沒 無 无 非 未 别 別`)

// labels are words before a colon that say what kind of text follows, not who says it.
var labels = listed(`answer date fact goal idea important info note notes problem question reminder result reason solution status
subject summary task tip title todo topic type update warning`)

// pronouns at the beginning of a sentence mean something that was said before.
var pronouns = listed(`it it's that that's this these those they he she his her their its`)
