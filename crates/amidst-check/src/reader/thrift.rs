//! Thrift's compact protocol, as far as headers and footers of Parquet files need it.
//!
//! Nothing is allocated beyond the bytes at hand. Numbers must have their shortest form, and fields must ascend and
//! occur once, so that no byte of a header can carry anything else.

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Thrift<'a> {
    Flag(bool),
    Whole(i64),
    Double(f64),
    Bytes(&'a [u8]),
    List(Vec<Thrift<'a>>),
    Struct(Vec<(i16, Thrift<'a>)>),
}

/// The maximum nesting; headers of flat tables have less.
const DEEPEST: usize = 12;

impl<'a> Thrift<'a> {
    /// Reads a struct at the start of `bytes`; also how many bytes it took.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<(Thrift<'a>, usize)> {
        let mut reader = Reader { bytes, at: 0 };
        let value = reader.structure(0)?;
        Some((value, reader.at))
    }

    /// The field with this number.
    pub(crate) fn field(&self, number: i16) -> Option<&Thrift<'a>> {
        match self {
            Thrift::Struct(fields) => fields.iter().find(|(own, _)| *own == number).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The whole number in a field.
    pub(crate) fn whole(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Thrift::Whole(n) => Some(*n),
            _ => None,
        }
    }

    /// The length or offset in a field: an integer that is not negative.
    pub(crate) fn size(&self, number: i16) -> Option<u64> {
        self.whole(number).and_then(|n| u64::try_from(n).ok())
    }

    /// The bytes in a field.
    pub(crate) fn bytes(&self, number: i16) -> Option<&'a [u8]> {
        match self.field(number)? {
            Thrift::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The list in a field; empty when there is none.
    pub(crate) fn list(&self, number: i16) -> &[Thrift<'a>] {
        match self.field(number) {
            Some(Thrift::List(items)) => items,
            _ => &[],
        }
    }

    /// Whether a struct has no fields but these.
    pub(crate) fn only(&self, numbers: &[i16]) -> bool {
        matches!(self, Thrift::Struct(fields) if fields.iter().all(|(number, _)| numbers.contains(number)))
    }

    /// Whether it contains byte strings at any depth.
    pub(crate) fn has_bytes(&self) -> bool {
        match self {
            Thrift::Bytes(_) => true,
            Thrift::List(items) => items.iter().any(Thrift::has_bytes),
            Thrift::Struct(fields) => fields.iter().any(|(_, value)| value.has_bytes()),
            _ => false,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part || (byte == 0 && shift > 0) {
                return None;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let n = self.varint()?;
        Some((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Option<Thrift<'a>> {
        if depth > DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        let mut last = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Thrift::Struct(fields));
            }
            let number = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).ok().filter(|&n| n - last > 15 || n <= 0)?,
                step => last.checked_add(i16::from(step))?,
            };
            if number <= last {
                return None;
            }
            last = number;
            let value = match head & 15 {
                1 => Thrift::Flag(true),
                2 => Thrift::Flag(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((number, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thrift<'a>> {
        Some(match kind {
            // In a list a boolean is one byte.
            1 | 2 => Thrift::Flag(self.byte().filter(|b| matches!(b, 1 | 2))? == 1),
            3 => Thrift::Whole(i64::from(self.byte()? as i8)),
            4..=6 => Thrift::Whole(self.zigzag()?),
            7 => {
                let bytes = self.bytes.get(self.at..)?.first_chunk::<8>()?;
                self.at += 8;
                Thrift::Double(f64::from_le_bytes(*bytes))
            }
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
                self.at += length;
                Thrift::Bytes(bytes)
            }
            9 => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => usize::try_from(self.varint()?).ok().filter(|&n| n >= 15)?,
                    short => usize::from(short),
                };
                // Every item takes at least one byte.
                if depth > DEEPEST || length > self.bytes.len() - self.at {
                    return None;
                }
                let items = (0..length).map(|_| self.value(head & 15, depth + 1));
                Thrift::List(items.collect::<Option<_>>()?)
            }
            12 => self.structure(depth + 1)?,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_read_and_damage_is_not() {
        // { 1: -3, 2: "ab", 20: [1, 2], 21: { 1: true } }
        let bytes = [0x15, 5, 0x18, 2, b'a', b'b', 0x09, 40, 0x25, 2, 4, 0x1c, 0x11, 0, 0];
        let (value, length) = Thrift::read(&bytes).unwrap();
        assert_eq!(length, bytes.len());
        assert_eq!((value.whole(1), value.bytes(2)), (Some(-3), Some(&b"ab"[..])));
        assert_eq!(value.list(20), [Thrift::Whole(1), Thrift::Whole(2)]);
        assert_eq!(value.field(21).and_then(|v| v.field(1)), Some(&Thrift::Flag(true)));
        assert!(value.has_bytes() && value.only(&[1, 2, 20, 21]) && !value.only(&[1, 2]));
        for end in 0..bytes.len() {
            assert!(Thrift::read(&bytes[..end]).is_none());
        }
        // A list longer than its bytes, a number longer than it must be, a field twice, endless nesting.
        for bad in
            [&[0x19, 0xf5, 0xff, 0xff, 0xff, 0x7f][..], &[0x15, 0x80, 0, 0], &[0x15, 2, 0x05, 2, 2, 0], &[0x1c; 100]]
        {
            assert!(Thrift::read(bad).is_none(), "{bad:?}");
        }
    }
}
