package approval

import (
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
)

// ReadAnswer reads the parameters of answer.
func ReadAnswer(o *fields.Reader) (action.RequestID, prompt.Ballot, error) { return readAnswer(o) }
