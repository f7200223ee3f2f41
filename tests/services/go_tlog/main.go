// An independent transparency log: Debian's golang.org/x/mod/sumdb/note and tlog make the
// checkpoints and proofs, Go's ed25519 verifies the cosignatures. It shares no code with the
// witness that it talks to.
//
//	go_tlog keygen NAME                            prints a signer and a verifier key
//	go_tlog drive URL SIGNER WITNESS_VKEY SIZES…   grows a log through these sizes
//	go_tlog check FILE LOG_VKEY WITNESS_VKEY       verifies a .tlog-proof file
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// cosigner verifies Ed25519 cosignatures (c2sp.org/tlog-cosignature, type 0x04).
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
	time uint64
}

func newCosigner(vkey string) (*cosigner, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("malformed vkey")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return nil, errors.New("not a cosignature key")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	if hex.EncodeToString(sum[:4]) != parts[1] {
		return nil, errors.New("wrong key id")
	}
	return &cosigner{name: parts[0], hash: binary.BigEndian.Uint32(sum[:4]), key: key[1:]}, nil
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }
func (c *cosigner) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	c.time = binary.BigEndian.Uint64(sig)
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", c.time, msg)
	return ed25519.Verify(c.key, []byte(signed), sig[8:])
}

// tree keeps all stored hashes in memory.
type tree struct {
	hashes []tlog.Hash
	size   int64
}

func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = t.hashes[index]
	}
	return out, nil
}

func (t *tree) grow(size int64, salt string) error {
	for t.size < size {
		hashes, err := tlog.StoredHashes(t.size, []byte(fmt.Sprintf("%s record %d", salt, t.size)), t)
		if err != nil {
			return err
		}
		t.hashes = append(t.hashes, hashes...)
		t.size++
	}
	return nil
}

func (t *tree) checkpoint(signer note.Signer, size int64) ([]byte, tlog.Hash, error) {
	root, err := tlog.TreeHash(size, t)
	if err != nil {
		return nil, root, err
	}
	text := fmt.Sprintf("%s\n%d\n%s\n", signer.Name(), size, root)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	return signed, root, err
}

func submit(url string, old int64, proof tlog.TreeProof, checkpoint []byte) (int, []byte, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, "old %d\n", old)
	for _, hash := range proof {
		fmt.Fprintf(&body, "%s\n", hash)
	}
	body.WriteString("\n")
	body.Write(checkpoint)
	answer, err := http.Post(url+"/add-checkpoint", "", &body)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode == 409 && answer.Header.Get("Content-Type") != "text/x.tlog.size" {
		return 0, nil, errors.New("409 without its content type")
	}
	return answer.StatusCode, content, err
}

func verify(signed []byte, log note.Verifier, witness *cosigner) (*note.Note, error) {
	opened, err := note.Open(signed, note.VerifierList(log, witness))
	if err != nil {
		return nil, err
	}
	if len(opened.Sigs) != 2 {
		return nil, fmt.Errorf("%d signatures verify, not 2", len(opened.Sigs))
	}
	return opened, nil
}

func drive(url, skey, vkey string, sizes []string) error {
	signer, err := note.NewSigner(skey)
	if err != nil {
		return err
	}
	log, err := verifierOf(skey)
	if err != nil {
		return err
	}
	witness, err := newCosigner(vkey)
	if err != nil {
		return err
	}
	honest, forked := &tree{}, &tree{}
	var old int64
	count := 0
	for _, word := range sizes {
		size, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return err
		}
		if err := honest.grow(size, "honest"); err != nil {
			return err
		}
		if err := forked.grow(size, "forked"); err != nil {
			return err
		}
		if old > 0 {
			if err := refusals(url, signer, honest, forked, old, size); err != nil {
				return err
			}
		}
		proof, err := proofOf(honest, old, size)
		if err != nil {
			return err
		}
		signed, _, err := honest.checkpoint(signer, size)
		if err != nil {
			return err
		}
		status, body, err := submit(url, old, proof, signed)
		if err != nil || status != 200 {
			return fmt.Errorf("size %d: %d %q %v", size, status, body, err)
		}
		if _, err := verify(append(signed, body...), log, witness); err != nil {
			return fmt.Errorf("size %d: %v", size, err)
		}
		if age := time.Now().Unix() - int64(witness.time); age < -5 || age > 60 {
			return fmt.Errorf("size %d: cosigned %d seconds ago", size, age)
		}
		served, err := newest(url, signer.Name())
		if err != nil {
			return err
		}
		opened, err := verify(served, log, witness)
		if err != nil || !strings.Contains(opened.Text, fmt.Sprintf("\n%d\n", size)) {
			return fmt.Errorf("size %d: served %q %v", size, served, err)
		}
		old = size
		count++
	}
	fmt.Printf("%d checkpoints cosigned and verified\n", count)
	return nil
}

func proofOf(t *tree, old, size int64) (tlog.TreeProof, error) {
	if old == 0 || old == size {
		return nil, nil
	}
	return tlog.ProveTree(size, old, t)
}

// refusals tries what a witness must never cosign, and a stale size.
func refusals(url string, signer note.Signer, honest, forked *tree, old, size int64) error {
	proof, err := proofOf(forked, old, size)
	if err != nil {
		return err
	}
	fork, _, err := forked.checkpoint(signer, size)
	if err != nil {
		return err
	}
	good, _, err := honest.checkpoint(signer, size)
	if err != nil {
		return err
	}
	cases := []struct {
		old        int64
		proof      tlog.TreeProof
		checkpoint []byte
		status     int
	}{
		{old, proof, fork, 422},
		{0, nil, good, 409},
		{size + 1, nil, good, 400},
	}
	for _, one := range cases {
		status, body, err := submit(url, one.old, one.proof, one.checkpoint)
		if err != nil || status != one.status {
			return fmt.Errorf("old %d size %d: %d %q, not %d: %v", one.old, size, status, body, one.status, err)
		}
		if status == 409 && string(body) != fmt.Sprintf("%d\n", old) {
			return fmt.Errorf("409 tells %q, not %d", body, old)
		}
	}
	return nil
}

func newest(url, origin string) ([]byte, error) {
	sum := sha256.Sum256([]byte(origin))
	answer, err := http.Get(url + "/" + hex.EncodeToString(sum[:]) + "/checkpoint")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		return nil, fmt.Errorf("monitoring read: %d", answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, 1<<20))
}

// verifierOf derives the verifier key of a signer key (an Ed25519 seed).
func verifierOf(skey string) (note.Verifier, error) {
	parts := strings.SplitN(skey, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 33 {
		return nil, errors.New("malformed signer key")
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	vkey, err := note.NewEd25519VerifierKey(parts[2], public)
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(vkey)
}

// check verifies a .tlog-proof file whose extra line holds the leaf hash.
func check(path, logKey, witnessKey string) error {
	log, err := note.NewVerifier(logKey)
	if err != nil {
		return err
	}
	witness, err := newCosigner(witnessKey)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts := bytes.SplitN(data, []byte("\n\n"), 2)
	lines := strings.Split(string(parts[0]), "\n")
	if len(parts) != 2 || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return errors.New("not a tlog-proof with a leaf")
	}
	leafBytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil || len(leafBytes) != tlog.HashSize {
		return errors.New("no leaf hash")
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	var leaf tlog.Hash
	copy(leaf[:], leafBytes)
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		proof = append(proof, hash)
	}
	opened, err := verify(parts[1], log, witness)
	if err != nil {
		return err
	}
	head := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(head[1], 10, 64)
	if err != nil {
		return err
	}
	root, err := tlog.ParseHash(head[2])
	if err != nil {
		return err
	}
	if err := tlog.CheckRecord(proof, size, root, index, leaf); err != nil {
		return err
	}
	fmt.Printf("record %d of %d stands\n", index, size)
	return nil
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "keygen":
		var skey, vkey string
		skey, vkey, err = note.GenerateKey(rand.Reader, args[1])
		fmt.Println(skey)
		fmt.Println(vkey)
	case len(args) > 4 && args[0] == "drive":
		err = drive(args[1], args[2], args[3], args[4:])
	case len(args) == 4 && args[0] == "check":
		err = check(args[1], args[2], args[3])
	default:
		err = errors.New("keygen NAME | drive URL SIGNER WITNESS_VKEY SIZES… | check FILE LOG_VKEY WITNESS_VKEY")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
