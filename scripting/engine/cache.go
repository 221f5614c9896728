package engine

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Cache is an Engine that keeps compiled scripts by their content, so that an
// edited file is compiled anew and an unchanged one is not.
type Cache struct {
	engine Engine
	max    int

	mu    sync.Mutex // guards what follows; never held while compiling
	byKey map[cacheKey]*list.Element
	order *list.List // of *cached, the one used last in front
}

type cacheKey [sha256.Size]byte

type cached struct {
	key  cacheKey
	prog Program
}

// NewCache keeps at most entries programs of the engine.
func NewCache(e Engine, entries int) *Cache {
	return &Cache{engine: e, max: max(1, entries), byKey: map[cacheKey]*list.Element{}, order: list.New()}
}

// Name is the engine's.
func (c *Cache) Name() string { return c.engine.Name() }

// Compile gives the program that is kept, else compiles. Failures are not kept.
func (c *Cache) Compile(src Source) (Program, error) {
	key := sha256.Sum256([]byte(src.Name + "\x00" + src.Text))
	if prog := c.find(key); prog != nil {
		return prog, nil
	}
	prog, err := c.engine.Compile(src)
	if err != nil {
		return nil, err
	}
	c.keep(key, prog)
	return prog, nil
}

// Len says how many programs are kept.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

func (c *Cache) find(key cacheKey) Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byKey[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*cached).prog
}

func (c *Cache) keep(key cacheKey, prog Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byKey[key]; ok { // compiled twice at the same time
		c.order.MoveToFront(at)
		return
	}
	c.byKey[key] = c.order.PushFront(&cached{key, prog})
	if c.order.Len() > c.max {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(*cached).key)
	}
}
