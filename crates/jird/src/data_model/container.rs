//! Containers, as serializers write them: arrays, objects, and variants that contain one.

use serde_core::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

/// An open array or object of a serializer. Brackets are `]` and `}`.
pub trait Container: Sized {
    type Ok;
    type Error: ser::Error;

    /// Writes an element of an array.
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Self::Error>;

    /// Writes a member whose key is a compile-time constant.
    fn member<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Self::Error>;

    fn key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Self::Error>;

    /// Writes the value of the key before.
    fn value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Self::Error>;

    fn close(self, bracket: u8) -> Result<Self::Ok, Self::Error>;

    /// Closes the variant's object too.
    fn close_variant(self, bracket: u8) -> Result<Self::Ok, Self::Error>;
}

/// An open container behind serde's traits.
pub struct Open<C>(pub(crate) C);

/// Implements the traits, which differ only in their names, in what they add, and in how they end.
macro_rules! opened {
    ($($trait:ident: $($add:ident($($key:ident: $type:ty)?) => $to:ident)+, $close:ident $bracket:literal);+) => {
        $(
            impl<C: Container> $trait for Open<C> {
                type Ok = C::Ok;
                type Error = C::Error;

                $(
                    #[inline(always)]
                    fn $add<T: ?Sized + Serialize>(&mut self, $($key: $type,)? value: &T) -> Result<(), C::Error> {
                        self.0.$to($($key,)? value)
                    }
                )+

                #[inline(always)]
                fn end(self) -> Result<C::Ok, C::Error> {
                    self.0.$close($bracket)
                }
            }
        )+
    };
}
opened!(
    SerializeSeq: serialize_element() => element, close b']';
    SerializeTuple: serialize_element() => element, close b']';
    SerializeTupleStruct: serialize_field() => element, close b']';
    SerializeTupleVariant: serialize_field() => element, close_variant b']';
    SerializeStruct: serialize_field(key: &'static str) => member, close b'}';
    SerializeStructVariant: serialize_field(key: &'static str) => member, close_variant b'}';
    SerializeMap: serialize_key() => key serialize_value() => value, close b'}'
);

/// Inside an `impl Serializer`: the functions `open`, `open_variant` and `open_raw` of `$type` open containers with a
/// bracket, and the struct whose one field is raw text.
macro_rules! containers {
    ($type:ty) => {
        $crate::data_model::compounds!($crate::data_model::Open<$type>);
        containers!(
            $type, open;
            serialize_seq(_len: Option<usize>) b'[', serialize_tuple(_len: usize) b'[',
            serialize_tuple_struct(_name: &'static str, _len: usize) b'[',
            serialize_map(_len: Option<usize>) b'{'
        );

        #[inline(always)]
        fn serialize_struct(
            self,
            name: &'static str,
            _len: usize,
        ) -> Result<$crate::data_model::Open<$type>, Self::Error> {
            // The struct in which `serde_json` and this crate's other face write raw text.
            let opened = if name == $crate::data_model::RAW_TEXT {
                <$type>::open_raw(self)
            } else {
                <$type>::open(self, b'{')
            };
            opened.map($crate::data_model::Open)
        }

        containers!($type, open_variant, variant; serialize_tuple_variant b'[', serialize_struct_variant b'{');
    };
    ($type:ty, $open:ident; $($name:ident($($argument:ident: $of:ty),+) $bracket:literal),+) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $of),+) -> Result<$crate::data_model::Open<$type>, Self::Error> {
                <$type>::$open(self, $bracket).map($crate::data_model::Open)
            }
        )+
    };
    ($type:ty, $open:ident, $variant:ident; $($name:ident $bracket:literal),+) => {
        $(
            #[inline(always)]
            fn $name(
                self,
                _name: &'static str,
                _index: u32,
                $variant: &'static str,
                _len: usize,
            ) -> Result<$crate::data_model::Open<$type>, Self::Error> {
                <$type>::$open(self, $variant, $bracket).map($crate::data_model::Open)
            }
        )+
    };
}
pub(crate) use containers;
