"""English stop words, by grammatical class.

They are compared after lower-casing and before stemming, and split like other words at every character that is no
letter or digit, so that "don't" is "don" and "t".
"""

import string

_ARTICLES_AND_DETERMINERS = """
a an the this that these those each every either neither some any no none all both half such another other others
same own many much more most few fewer several enough less least lot lots various certain
"""

_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones who whom whose which what whoever whomever
whichever whatever somebody someone something anybody anyone anything nobody nothing everybody everyone everything
"""

_PREPOSITIONS = """
about above across after against along alongside amid among amongst around as at before behind below beneath beside
besides between beyond by despite down during except for from in inside into like near of off on onto out
outside over past per since than through throughout till to toward towards under underneath unlike until
unto up upon via versus vs with within without
"""

_CONJUNCTIONS = """
and or nor but yet so if unless although though because while whilst whereas whether once
"""

_AUXILIARIES = """
am is are was were be been being have has had having do does did doing done can could may might must shall should
will would ought need cannot let lets
"""

_COMMON_VERBS = """
get gets getting got gotten go goes going gone went come comes coming came make makes making made take takes taking
took taken put puts say says saying said see sees seen seem seems seemed seeming become becomes became becoming keep
keeps kept give gives given gave use used uses using
"""

_ADVERBS_OF_PLACE_AND_TIME = """
here there where when why how now then ever never always often sometimes usually already still again soon later
today hence thereby therein thereof thereafter whereby wherein
wherever whenever somewhere anywhere nowhere everywhere elsewhere ago afterwards beforehand meanwhile
"""

_ADVERBS_OF_DEGREE_AND_LINKING = """
not too very quite rather almost nearly just only even also else indeed perhaps maybe however therefore thus
otherwise moreover furthermore nevertheless nonetheless instead anyway somehow somewhat really actually simply well
away back together apart further
"""

_NUMERALS_AND_ORDER = """
two three four five six seven eight nine ten first second third last next former latter
"""

_SMALL_TALK_AND_ABBREVIATIONS = """
yes ok eg ie etc et al viz cf
"""

# Parts of "isn't", "we'll", "they've".
_PIECES_OF_CONTRACTIONS = """
ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn ll re ve
"""

STOP_WORDS = frozenset(
    " ".join(
        (
            _ARTICLES_AND_DETERMINERS,
            _PRONOUNS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _COMMON_VERBS,
            _ADVERBS_OF_PLACE_AND_TIME,
            _ADVERBS_OF_DEGREE_AND_LINKING,
            _NUMERALS_AND_ORDER,
            _SMALL_TALK_AND_ABBREVIATIONS,
            _PIECES_OF_CONTRACTIONS,
            # A single letter is an initial, a list mark or the end of a contraction.
            " ".join(string.ascii_lowercase),
        )
    ).split()
)
