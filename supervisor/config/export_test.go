package config

// LoadAs is Load for another uid and another system file.
var LoadAs = load
