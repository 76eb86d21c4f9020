import Testing

@testable import SQLiteEngine

@Suite struct NameMemoryTests {
    @Test func `a name is kept in both forms, and found again`() {
        let memory = NameMemory()
        #expect(memory.name(of: 1) == nil && memory.lastUTF8(of: 1) == nil)
        #expect(memory.lastUTF8(of: 0)?.isEmpty == true)
        for (number, text) in [(1, "Note"), (2, ""), (3, "Übung")] as [(Int64, String)] {
            let kept = memory.keep(text, of: number)
            #expect(kept.text == text && kept.utf8.elementsEqual(text.utf8))
            #expect(memory.lastUTF8(of: number)?.elementsEqual(text.utf8) == true)
        }
        #expect(memory.lastUTF8(of: 1) == nil)
        #expect(memory.name(of: 1)?.text == "Note")
        #expect(memory.lastUTF8(of: 1)?.elementsEqual("Note".utf8) == true)
    }

    @Test func `many names are kept as long as they may be lent, and then forgotten`() {
        let memory = NameMemory()
        let first = memory.keep("name 1", of: 1)
        for number in 2...12_000 as ClosedRange<Int64> { _ = memory.keep("name \(number)", of: number) }
        #expect(first.utf8.elementsEqual("name 1".utf8))
        #expect(memory.name(of: 12_000)?.text == "name 12000")
        memory.forgetIfMany()
        #expect(memory.name(of: 1) == nil && memory.name(of: 12_000) == nil)
        #expect(memory.lastUTF8(of: 12_000) == nil)
        _ = memory.keep("again", of: 1)
        memory.forgetIfMany()
        #expect(memory.name(of: 1)?.text == "again")
    }
}
