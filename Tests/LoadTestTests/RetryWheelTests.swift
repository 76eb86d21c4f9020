import Testing

@testable import tidemark_load

@Suite
struct RetryWheelTests {
    @Test
    func `what is due comes in the order of times, once`() {
        var wheel = RetryWheel<String>(now: 1_000)
        wheel.add("later", at: 6_000)
        wheel.add("second", at: 1_200)
        wheel.add("first", at: 1_100)
        #expect(wheel.take(through: 1_099).isEmpty)
        #expect(wheel.take(through: 1_200) == ["first", "second"])
        #expect(wheel.take(through: 5_999).isEmpty)
        #expect(wheel.take(through: 20_000) == ["later"])
        #expect(wheel.count == 0)
    }

    @Test
    func `an overdue retry comes next, and one too far ahead comes at the end of the wheel`() {
        var wheel = RetryWheel<Int>(now: 0)
        #expect(wheel.take(through: 50).isEmpty)
        wheel.add(1, at: 10)
        wheel.add(2, at: 1_000_000)
        #expect(wheel.take(through: 51) == [1])
        #expect(wheel.take(through: 50 + RetryWheel<Int>.millisecondsMax) == [2])
    }

    @Test
    func `the wheel turns past its end, and gives all back`() {
        var wheel = RetryWheel<Int64>(now: 0)
        for time: Int64 in stride(from: 100, through: 50_000, by: 100) {
            wheel.add(time, at: time)
            #expect(wheel.take(through: time) == [time])
        }
        for number: Int64 in 1...500 { wheel.add(number, at: 50_000 + number * 10) }
        #expect(wheel.takeAll() == Array(1...500))
        wheel.add(1, at: 50_010)
        #expect(wheel.take(through: 50_010) == [1])
    }
}
