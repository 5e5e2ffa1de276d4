"""Made-up texts in Japanese and Chinese on three topics, and a small Japanese web of them."""

from dataclasses import dataclass
from random import Random

BALLOONS, POTTERY, RAILWAYS = "balloons", "pottery", "railways"

JAPANESE = {
    BALLOONS: """
熱気球は暖かい空気が軽いことを利用して空に浮かびます。
バーナーでプロパンガスを燃やして、球皮の中の空気を暖めます。
パイロットは高さを変えながら、行きたい方向の風を探します。
夜明け前の河川敷に集まり、まず地面に球皮を広げます。
大会では、決められた地点にマーカーを落として正確さを競います。
バスケットは籐で編まれていて、着地の衝撃をやわらげます。
風が強い日は飛ばないことが、この空の旅のいちばん大切な決まりです。
回収班は車で熱気球を追いかけ、畑の持ち主に挨拶をします。
一七八三年に人を乗せた最初の飛行がフランスで行われました。
上空は風と一緒に動くので、かごの中ではほとんど風を感じません。
係留飛行ではロープで地面につないだまま、三十メートルほど上がります。
球皮の布はナイロン製で、上の部分には熱に強い生地を使います。
秋の朝に百機を超える熱気球がいっせいに離陸する景色は見事です。
資格を取るには、十時間以上の飛行訓練と筆記試験が必要です。
排気弁のひもを引くと暖かい空気が抜けて、ゆっくり降りていきます。
高度計と昇降計を見ながら、バーナーを焚く間隔を決めます。
クラブの会員は六人で一機を持ち、週末ごとに飛んでいます。
夜に並んだ球皮がバーナーの炎で光る催しも人気があります。
着陸に向いた広い刈田を、地図と目で早めに探しておきます。
熱気球の燃料は二時間ほどの飛行で四本のボンベを使い切ります。
""",
    POTTERY: """
陶芸はまず土を練って、中の気泡を抜くことから始まります。
ろくろの中心に土を据えるのが、初心者には難しいところです。
素焼きのあとで釉薬をかけ、もう一度高い温度で焼きます。
登り窯では薪を三日間くべ続け、灰が自然の釉になります。
乾かす間に口のところが反らないように、ゆっくり水分を抜きます。
この町の土は鉄分が多く、焼き上がりは赤みを帯びます。
高台を削るときは、器の厚みを指の音で確かめます。
青磁の色は、窯の中の酸素を減らすと現れます。
湯のみを二十個そろえて挽けるようになるまで三年かかりました。
割れた茶碗を漆と金粉で継ぐと、新しい景色が生まれます。
手びねりなら、ろくろがなくても家の机で作れます。
釉薬は灰と長石を混ぜ、ふるいにかけて作ります。
窯出しの朝は、思いがけない色に出会えるのが楽しみです。
白化粧の上に竹べらで線を彫って文様を描きます。
作家の工房では、土と石を自分の山から掘っています。
急に冷やすと貫入というひびが表面に入ります。
陶芸教室は一回二時間で、焼き上がりは一か月後です。
皿を重ねて焼くために、間に小さな道具を挟みます。
""",
    RAILWAYS: """
山あいを走る鉄道は、一日に五往復しか列車がありません。
駅員のいない駅では、運転士が切符を受け取ります。
蒸気機関車は週末だけ客車を三両引いて走ります。
線路の幅が狭いので、車両も小さく作られています。
急な坂を登るために、途中で二度向きを変えます。
終点の駅舎は昭和のはじめに建てられた木造です。
通学の高校生が減り、路線の存続が話し合われています。
車庫では古い気動車を有志の人たちが磨いています。
鉄橋の上から見える川の景色が、乗客に人気です。
時刻表を読むのが好きで、乗り継ぎを考えて過ごします。
信号機が青になると、列車は静かに動き出しました。
単線なので、すれ違いのできる駅で五分ほど待ちます。
冬は雪をかき分ける車両が先に走って線路を開けます。
駅弁は地元のきのこを使った炊き込みご飯が評判です。
踏切の音が聞こえると、子どもたちが手を振ります。
電化の工事が終われば、所要時間が二十分縮まります。
廃線になった区間は、歩いて回れる遊歩道になりました。
枕木を木からコンクリートに替える作業が続いています。
""",
}
#: On pages of all topics.
JAPANESE_GENERAL = """
このページでは、はじめての方にも分かりやすいように説明しています。
詳しいことは、お問い合わせのページからお気軽にご連絡ください。
写真はすべて当サイトの管理人が撮影したものです。
参加を希望される方は、前の日までに申し込んでください。
天気によって予定が変わることがありますので、ご注意ください。
最寄りの駅から歩いて十五分ほどのところにあります。
昨年の秋にも同じ場所で、たくさんの人が集まりました。
費用は一人あたり三千円で、子どもは半額になります。
これまでの記録は、年ごとにまとめてご覧いただけます。
次の更新は来月のはじめを予定しています。
"""
JAPANESE_TITLES = {
    BALLOONS: "熱気球の飛び方 熱気球クラブ便り 空の旅の記録 バーナーの手入れ 熱気球大会の結果 係留飛行の体験",
    POTTERY: "陶芸教室のご案内 釉薬の調合 登り窯の三日間 ろくろの練習 土と器の話 茶碗の金継ぎ",
    RAILWAYS: "山の鉄道の旅 木造の駅舎 蒸気機関車の運転日 時刻表の読み方 廃線を歩く 車庫の気動車",
}
CHINESE = {
    BALLOONS: """
热气球利用热空气比冷空气轻的原理升上天空。
飞行员点燃燃烧器,加热球囊里的空气。
吊篮用藤条编成,可以减轻着陆时的冲击。
清晨风小,最适合热气球起飞。
飞行员改变高度,寻找方向合适的风。
地勤人员开车跟着热气球,到着陆的地方回收球囊。
比赛时要把标志物投到指定的地点。
一个钢瓶的丙烷大约可以飞行半个小时。
系留飞行用绳子把热气球固定在地面上。
拉动排气阀的绳子,热空气放出,热气球慢慢下降。
""",
    POTTERY: """
做陶艺的第一步是揉泥,把里面的气泡赶出来。
拉坯时要先把泥团放在转盘的中心。
素烧以后上釉,再用更高的温度烧一次。
柴窑要连续烧三天,灰落在器物上变成自然的釉。
这里的泥土含铁多,烧出来的颜色发红。
修坯的时候要用手指听器壁的厚薄。
青瓷的颜色是在缺氧的窯里烧成的。
碎了的茶碗可以用漆和金粉修补。
用手捏的方法在家里的桌子上也能做。
釉料由草木灰和长石混合,过筛以后使用。
""",
    RAILWAYS: """
山里的铁路每天只有五趟列车。
没有站员的小站由司机收车票。
蒸汽机车周末才拉着三节客车开行。
轨道很窄,所以车厢也造得比较小。
列车要在半路上两次改变方向才能爬上陡坡。
终点站的木头站房建于上个世纪三十年代。
上学的高中生少了,大家在讨论要不要保留这条线路。
冬天先有除雪车开过,把线路打开。
单线的铁路要在会车的车站等五分钟。
废弃的路段现在成了可以散步的小路。
""",
}
CHINESE_GENERAL = """
这个网页为第一次来的朋友作了简单的说明。
如果您有问题,请通过联系我们的网页告诉我们。
天气不好的时候,计划可能会有变化,请注意。
费用是每个人一百元,小孩子半价。
以前的记录可以按照年份查看。
"""


def sentences(text: str) -> list[str]:
    return text.strip().splitlines()


def page_text(topic: str, rng: Random, texts: dict[str, str] = JAPANESE, general: str = JAPANESE_GENERAL) -> str:
    """Some sentences of a topic, and some that could be on any page."""
    own, common = sentences(texts[topic]), sentences(general)
    chosen = [*rng.sample(own, rng.randint(5, 8)), *rng.sample(common, rng.randint(2, 4))]
    rng.shuffle(chosen)
    return "".join(chosen)


@dataclass(frozen=True, slots=True)
class JapanesePage:
    topic: str
    text: str
    html: str


def japanese_web(n_pages: int = 60) -> dict[str, JapanesePage]:
    """Pages by name. A third of them is about each topic; half of the links of a page lead to pages on its topic, each
    followed by the first sentence of its page."""
    rng, topics = Random(7), list(JAPANESE)
    topic_of = {str(number): topics[number % len(topics)] for number in range(n_pages)}
    titles = {name: rng.choice(JAPANESE_TITLES[topic].split()) for name, topic in topic_of.items()}
    texts = {name: page_text(topic, rng) for name, topic in topic_of.items()}

    def html_of(name: str) -> str:
        same = [other for other in topic_of if topic_of[other] == topic_of[name] and other != name]
        others = [other for other in topic_of if topic_of[other] != topic_of[name]]
        links = [*rng.sample(same, 3), *rng.sample(others, 3)]
        rng.shuffle(links)
        items = (f'<li><a href="{link}">{titles[link]}</a> {texts[link].partition("。")[0]}。' for link in links)
        head = f"<title>{titles[name]}</title><h1>{titles[name]}</h1><p>ホーム | サイトマップ | お問い合わせ</p>"
        return f"<!doctype html>{head}<p>{texts[name]}</p><ul>{''.join(items)}</ul>"

    return {name: JapanesePage(topic, texts[name], html_of(name)) for name, topic in topic_of.items()}
