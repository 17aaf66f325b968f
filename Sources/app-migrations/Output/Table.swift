/// Lines whose columns stand below each other.
struct Table {
    enum Alignment { case left, right }

    /// A part of a line: a text, and how it stands out.
    struct Cell {
        let text: String
        var highlight: (String) -> String = { $0 }
    }

    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    init(_ alignments: Alignment...) {
        self.alignments = alignments
    }

    mutating func add(_ cells: Cell...) {
        rows.append(cells)
    }

    mutating func add(_ texts: String...) {
        rows.append(texts.map { Cell(text: $0) })
    }

    /// Prints the lines, indented, and without blanks at their ends.
    func print(indentation: Int = 2) {
        let widths = alignments.indices.map { index in
            rows.map { $0.indices.contains(index) ? $0[index].text.count : 0 }.max() ?? 0
        }
        for row in rows {
            let last = row.lastIndex { !$0.text.isEmpty } ?? 0
            let cells = row.prefix(last + 1).enumerated().map { index, cell in
                let blanks = String(repeating: " ", count: widths[index] - cell.text.count)
                let text = cell.highlight(cell.text)
                switch alignments[index] {
                case .right: return blanks + text
                case .left: return index == last ? text : text + blanks
                }
            }
            Swift.print(String(repeating: " ", count: indentation) + cells.joined(separator: "  "))
        }
    }
}
