"""JSON whose numbers keep all digits: a number with a fraction or an exponent is a Decimal."""

from __future__ import annotations

from decimal import Decimal

import msgspec

decode = msgspec.json.Decoder(float_hook=Decimal).decode
encode = msgspec.json.Encoder(decimal_format="number").encode
