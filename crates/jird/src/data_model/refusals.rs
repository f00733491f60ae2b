//! Refuses the parts of serde's data model that a serializer cannot write.

/// Sets serde's types for open containers, all to one type.
macro_rules! compounds {
    ($type:ty) => {
        type SerializeSeq = $type;
        type SerializeTuple = $type;
        type SerializeTupleStruct = $type;
        type SerializeTupleVariant = $type;
        type SerializeMap = $type;
        type SerializeStruct = $type;
        type SerializeStructVariant = $type;
    };
}
pub(crate) use compounds;

/// Refuses containers and values that have no text.
macro_rules! refusals {
    ($refuse:expr) => {
        refusals!(
            $refuse;
            serialize_bytes(&[u8]) -> Ok, serialize_none() -> Ok, serialize_unit() -> Ok,
            serialize_unit_struct(&'static str) -> Ok,
            serialize_seq(Option<usize>) -> SerializeSeq, serialize_tuple(usize) -> SerializeTuple,
            serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct,
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant,
            serialize_map(Option<usize>) -> SerializeMap,
            serialize_struct(&'static str, usize) -> SerializeStruct,
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant
        );
        $crate::data_model::compounds!(Impossible<Self::Ok, Self::Error>);

        fn serialize_newtype_variant<T: ?Sized + Serialize>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<Self::Ok, Self::Error> {
            $refuse
        }
    };
    ($refuse:expr; $($name:ident($($argument:ty),*) -> $made:ident),+) => {
        $(
            fn $name(self, $(_: $argument),*) -> Result<Self::$made, Self::Error> {
                $refuse
            }
        )+
    };
}
pub(crate) use refusals;
