package strictjson

// Kind is the kind of a JSON value.
type Kind int

// The kinds. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String gives the word JSON Schema has for the kind: "null", "boolean", ...
func (k Kind) String() string {
	switch k {
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "null"
}

// Value is one JSON value. Only the fields of its kind are set.
type Value struct {
	Kind    Kind
	Bool    bool
	Text    string   // String: the characters; Number: the text as it was written
	Items   []Value  // Array
	Members []Member // Object, in the order written, names unique
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Get finds a member of an object by its exact name; nil when it is not there
// or v is no object.
func (v *Value) Get(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// StringValue makes a string value.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// Clone is a copy that shares nothing with v.
func (v *Value) Clone() Value {
	out := *v
	if v.Items != nil {
		out.Items = make([]Value, len(v.Items))
		for i := range v.Items {
			out.Items[i] = v.Items[i].Clone()
		}
	}
	if v.Members != nil {
		out.Members = make([]Member, len(v.Members))
		for i := range v.Members {
			out.Members[i] = Member{v.Members[i].Name, v.Members[i].Value.Clone()}
		}
	}
	return out
}
