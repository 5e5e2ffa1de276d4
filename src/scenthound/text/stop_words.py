"""English stop words, by grammatical class.

They are compared after lower-casing and before stemming, and split like other words at every character that is no
letter or digit, so that "don't" is "don" and "t".
"""

import string

#: In this order: articles and determiners; pronouns; prepositions; conjunctions; auxiliaries; common verbs; adverbs of
#: place and time; adverbs of degree and linking adverbs; numerals and ordinals; small talk and abbreviations; pieces of
#: contractions, as in "isn't", "we'll" and "they've".
_WORDS = """
a an the this that these those each every either neither some any no none all both half such another other others same
own many much more most few fewer several enough less least lot lots various certain

i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one ones who whom whose which what whoever whomever whichever whatever
somebody someone something anybody anyone anything nobody nothing everybody everyone everything

about above across after against along alongside amid among amongst around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into like near of off on onto out outside over
past per since than through throughout till to toward towards under underneath unlike until unto up upon via versus vs
with within without

and or nor but yet so if unless although though because while whilst whereas whether once

am is are was were be been being have has had having do does did doing done can could may might must shall should will
would ought need cannot let lets

get gets getting got gotten go goes going gone went come comes coming came make makes making made take takes taking took
taken put puts say says saying said see sees seen seem seems seemed seeming become becomes became becoming keep keeps
kept give gives given gave use used uses using

here there where when why how now then ever never always often sometimes usually already still again soon later today
hence thereby therein thereof thereafter whereby wherein wherever whenever somewhere anywhere nowhere everywhere
elsewhere ago afterwards beforehand meanwhile

not too very quite rather almost nearly just only even also else indeed perhaps maybe however therefore thus otherwise
moreover furthermore nevertheless nonetheless instead anyway somehow somewhat really actually simply well away back
together apart further

two three four five six seven eight nine ten first second third last next former latter

yes ok eg ie etc et al viz cf

ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn ll re ve
"""

#: A single letter is an initial, a list mark or the end of a contraction.
STOP_WORDS = frozenset((*_WORDS.split(), *string.ascii_lowercase))
