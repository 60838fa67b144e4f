//! What a stream carries: bytes that were written and have not been read.

use std::collections::VecDeque;

/// The bytes of one direction of a connection, beside the lengths that the network knows.
#[derive(Debug, Default)]
pub(crate) struct Content {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of the first chunk that have been read.
    read: usize,
}

impl Content {
    /// Appends what was written.
    pub fn push(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.chunks.push_back(bytes.to_vec());
        }
    }

    /// Puts the first `most` bytes into `out`.
    pub fn peek(&self, most: usize, out: &mut Vec<u8>) {
        let mut skipped = self.read;
        let mut left = most;
        for chunk in &self.chunks {
            let part = &chunk[skipped..];
            let taken = part.len().min(left);
            out.extend_from_slice(&part[..taken]);
            left -= taken;
            skipped = 0;
            if left == 0 {
                return;
            }
        }
    }

    /// Takes the first `most` bytes.
    pub fn take(&mut self, most: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(most);
        self.peek(most, &mut out);
        let mut left = out.len();
        while let Some(chunk) = self.chunks.front() {
            let there = chunk.len() - self.read;
            if left < there {
                self.read += left;
                return out;
            }
            left -= there;
            self.read = 0;
            self.chunks.pop_front();
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_out_as_it_went_in() {
        let mut content = Content::default();
        for part in [&b"ab"[..], b"", b"cde", b"f"] {
            content.push(part);
        }
        assert_eq!(content.take(1), b"a");
        let mut seen = Vec::new();
        content.peek(4, &mut seen);
        assert_eq!(seen, b"bcde");
        assert_eq!(content.take(4), b"bcde");
        assert_eq!(content.take(9), b"f");
        assert_eq!(content.take(9), b"");
        content.push(b"g");
        assert_eq!(content.take(9), b"g");
    }
}
