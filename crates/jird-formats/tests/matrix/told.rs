//! What events said, kept as it came: what goes into a format, and what comes back.

use jird::event::{Interest, Key, Numeral, Place, Sink, Timestamp};
use std::convert::Infallible;

/// A record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Object(Vec<(String, Value)>),
    /// It is not an object.
    Other(Value),
}

/// A value, with the spelling of numbers that have one.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Time(Timestamp),
    Nested(Vec<Token>),
}

/// A piece of what is nested.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Open(char),
    Close(char),
    Key(String),
    Value(Value),
}

impl PartialEq for Value {
    /// Numbers by their spelling; a double has none, and is the same as any of its own.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Number(one), Self::Number(other)) | (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Double(one), Self::Double(other)) => one.to_bits() == other.to_bits(),
            (Self::Double(double), Self::Number(text)) | (Self::Number(text), Self::Double(double)) => {
                text == &written(*double)
            }
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Time(one), Self::Time(other)) => one == other,
            (Self::Nested(one), Self::Nested(other)) => one == other,
            _ => false,
        }
    }
}

/// A double as JSON.
pub(crate) fn written(double: f64) -> String {
    let mut text = Vec::new();
    Numeral::F64(double).write(&mut text);
    String::from_utf8(text).unwrap()
}

impl Value {
    /// Its JSON text.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(text) => text.clone(),
            Self::Double(value) => written(*value),
            Self::Text(text) => serde_json::to_string(text).unwrap(),
            Self::Bytes(_) | Self::Time(_) => self.as_text().json(),
            Self::Nested(tokens) => {
                let mut json = String::new();
                for token in tokens {
                    let is_next =
                        !matches!(token, Token::Close(_)) && !json.is_empty() && !json.ends_with(['[', '{', ':']);
                    json.push_str(if is_next { "," } else { "" });
                    match token {
                        Token::Open(bracket) | Token::Close(bracket) => json.push(*bracket),
                        Token::Key(key) => json.extend([&Self::Text(key.clone()).json(), ":"]),
                        Token::Value(value) => json.push_str(&value.json()),
                    }
                }
                json
            }
        }
    }

    /// What JSON has no place for, as text, wherever it stands.
    pub(crate) fn as_text(&self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Text(jird::hooks::base64(bytes)),
            Self::Time(time) => Self::Text(time.to_string()),
            Self::Nested(tokens) => Self::Nested(
                tokens
                    .iter()
                    .map(|token| match token {
                        Token::Value(value) => Token::Value(value.as_text()),
                        other => other.clone(),
                    })
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    fn send<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(*value),
            Self::Number(text) => sink.number(Numeral::Text(jird::Number::new(text).unwrap())),
            Self::Double(value) => sink.number(Numeral::F64(*value)),
            Self::Text(text) => sink.string(text),
            Self::Bytes(bytes) => sink.bytes(bytes),
            Self::Time(time) => sink.timestamp(*time),
            Self::Nested(tokens) => tokens.iter().try_for_each(|token| match token {
                Token::Open('{') => sink.begin_object(),
                Token::Open(_) => sink.begin_array(),
                Token::Close('}') => sink.end_object(),
                Token::Close(_) => sink.end_array(),
                Token::Key(key) => sink.key(Key::new(key)).map(drop),
                Token::Value(value) => value.send(sink),
            }),
        }
    }
}

/// Sends records, and finishes the sink.
pub(crate) fn send<S: Sink>(records: &[Record], sink: &mut S) -> Result<(), S::Error> {
    for (index, record) in records.iter().enumerate() {
        sink.begin_record(Place { record: index as u64, ..Place::default() })?;
        match record {
            Record::Other(value) => value.send(sink)?,
            Record::Object(members) => {
                sink.begin_object()?;
                for (key, value) in members {
                    if sink.key(Key::new(key))? == Interest::Take {
                        value.send(sink)?;
                    }
                }
                sink.end_object()?;
            }
        }
        sink.end_record()?;
    }
    sink.finish()
}

/// A sink that keeps all.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) records: Vec<Record>,
    members: Option<Vec<(String, Value)>>,
    key: String,
    nested: Vec<Token>,
    depth: usize,
    other: Option<Value>,
}

impl Told {
    #[expect(clippy::unnecessary_wraps, reason = "what a sink says")]
    fn value(&mut self, value: Value) -> Result<(), Infallible> {
        match &mut self.members {
            _ if self.depth > 0 => self.nested.push(Token::Value(value)),
            Some(members) => members.push((core::mem::take(&mut self.key), value)),
            None => self.other = Some(value),
        }
        Ok(())
    }

    fn open(&mut self, bracket: char) {
        self.nested.push(Token::Open(bracket));
        self.depth += 1;
    }

    fn close(&mut self, bracket: char) -> Result<(), Infallible> {
        self.nested.push(Token::Close(bracket));
        self.depth -= 1;
        if self.depth > 0 {
            return Ok(());
        }
        let nested = core::mem::take(&mut self.nested);
        self.value(Value::Nested(nested))
    }
}

impl Sink for Told {
    type Error = Infallible;

    fn end_record(&mut self) -> Result<(), Infallible> {
        let (members, other) = (self.members.take(), self.other.take());
        self.records.extend(members.map(Record::Object).or(other.map(Record::Other)));
        Ok(())
    }
    fn begin_object(&mut self) -> Result<(), Infallible> {
        if self.members.is_some() || self.depth > 0 {
            self.open('{');
        } else {
            self.members = Some(Vec::new());
        }
        Ok(())
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        let text = key.text().to_owned();
        if self.depth > 0 {
            self.nested.push(Token::Key(text));
        } else {
            self.key = text;
        }
        Ok(Interest::Take)
    }
    fn end_object(&mut self) -> Result<(), Infallible> {
        if self.depth > 0 { self.close('}') } else { Ok(()) }
    }
    fn begin_array(&mut self) -> Result<(), Infallible> {
        self.open('[');
        Ok(())
    }
    fn end_array(&mut self) -> Result<(), Infallible> {
        self.close(']')
    }
    fn null(&mut self) -> Result<(), Infallible> {
        self.value(Value::Null)
    }
    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.value(Value::Bool(value))
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        let mut text = Vec::new();
        number.write(&mut text);
        self.value(match number {
            Numeral::F64(value) => Value::Double(value),
            _ => Value::Number(String::from_utf8(text).unwrap()),
        })
    }
    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.value(Value::Text(text.to_owned()))
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.value(Value::Bytes(bytes.to_vec()))
    }
    fn timestamp(&mut self, time: Timestamp) -> Result<(), Infallible> {
        self.value(Value::Time(time))
    }
}
