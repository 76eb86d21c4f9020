import StorageContract
import Testing

struct ChangeTagTests {
    @Test(arguments: [(1, "1"), (35, "z"), (36, "10"), (Int64.max, "1y2p0ij32e8e7")] as [(Int64, String)])
    func `a tag is the position in base 36`(position: Int64, tag: String) {
        #expect(ChangeTag.text(of: position) == tag)
    }
}
