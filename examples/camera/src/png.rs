//! Writes a PNG file without compression: an example needs no library for it. A real camera delivers JPEG.

/// Most bytes of a stored block.
const MAX_BLOCK: usize = 65_535;

/// Returns an image with a byte of brightness for each pixel, in rows of `width`.
pub fn gray(width: usize, pixels: &[u8]) -> Vec<u8> {
    let rows: Vec<u8> = pixels.chunks(width).flat_map(|row| [&[0][..], row].concat()).collect();
    let size = |pixels: usize| (pixels as u32).to_be_bytes();
    let (width, height) = (size(width), size(pixels.len() / width));
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // 8 bits of gray.
    chunk(b"IHDR", &[&width[..], &height, &[8, 0, 0, 0, 0]].concat(), &mut file);
    chunk(b"IDAT", &stored(&rows), &mut file);
    chunk(b"IEND", &[], &mut file);
    file
}

fn chunk(kind: &[u8; 4], content: &[u8], file: &mut Vec<u8>) {
    file.extend_from_slice(&(content.len() as u32).to_be_bytes());
    let checked = [&kind[..], content].concat();
    file.extend_from_slice(&checked);
    file.extend_from_slice(&crc32fast::hash(&checked).to_be_bytes());
}

/// The bytes in the form of zlib, in stored blocks.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = bytes.chunks(MAX_BLOCK);
    let last = blocks.len() - 1;
    for (number, block) in blocks.enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(number == last));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    out.extend_from_slice(&(b << 16 | a).to_be_bytes());
    out
}
